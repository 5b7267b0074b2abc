import type * as vscode from 'vscode';
import { EventEmitter } from './basics.js';
import type { ParticipantDouble } from './chat.js';
import type { QuickInputDouble } from './quickInput.js';
import type { TextDocument } from './text.js';
import type { ChannelDouble, MessageDouble, ProgressDouble, StatusItemDouble } from './window.js';

export const EXTENSION_ID = 'volter-ai-dev.supercode-frontend-vscode';

/** What a person does with the quick input that is open, or with the next one that opens. */
export type Answer =
  | { readonly kind: 'pick'; readonly labels: readonly string[] }
  | { readonly kind: 'type'; readonly text: string }
  | { readonly kind: 'enter' | 'escape' | 'back' };

export interface HostOptions {
  /** What the editor grants; a stock one grants nothing. */
  readonly proposals?: readonly string[];
  readonly folders?: readonly string[];
  /** The defaults of our settings, by their whole name. */
  readonly defaults?: Readonly<Record<string, unknown>>;
  readonly isTrusted?: boolean;
  readonly appName?: string;
}

/** A save dialog that is open, or was. */
export interface SaveDialogDouble {
  readonly options: vscode.SaveDialogOptions;
  /** Names a file, or closes the dialog. That a file is replaced the dialog itself has asked by then. */
  readonly choose: (uri?: vscode.Uri) => void;
}

type Handler = (...args: unknown[]) => unknown;

/** Everything that one window of the editor holds: the namespaces write into it, a test reads it and acts on it. */
export class Host {
  readonly proposals: ReadonlySet<string>;
  readonly commands = new Map<string, Handler>();
  readonly executed: { readonly command: string; readonly args: readonly unknown[] }[] = [];
  readonly contextKeys = new Map<string, unknown>();
  readonly participants = new Map<string, ParticipantDouble>();
  /** By vendor. */
  readonly modelProviders = new Map<string, vscode.LanguageModelChatProvider>();
  readonly modelsChanged = new EventEmitter<undefined>();
  readonly sessionControllers = new Map<string, object>();
  readonly sessionContents = new Map<string, object>();

  readonly questions: QuickInputDouble[] = [];
  readonly answers: Answer[] = [];
  readonly messages: MessageDouble[] = [];
  readonly saveDialogs: SaveDialogDouble[] = [];
  readonly statusItems: StatusItemDouble[] = [];
  /** What `setStatusBarMessage` shows and has shown, oldest first. */
  readonly statusMessages: { readonly text: string; isShown: boolean }[] = [];
  readonly channels: ChannelDouble[] = [];
  readonly progress: ProgressDouble[] = [];
  windowState: vscode.WindowState = { focused: true, active: true };
  readonly windowStateChanged = new EventEmitter<vscode.WindowState>();

  readonly folders: readonly string[];
  readonly isTrusted: boolean;
  readonly documents: TextDocument[] = [];
  readonly documentsOpened = new EventEmitter<vscode.TextDocument>();
  readonly documentsClosed = new EventEmitter<vscode.TextDocument>();
  /** Files by URI; what is no file but above one is a folder. */
  readonly files = new Map<string, Uint8Array | vscode.FileSystemError>();
  /** What each write meets: a full disk, for one. */
  writeError: Error | undefined;
  /** By scheme. */
  readonly contentProviders = new Map<string, vscode.TextDocumentContentProvider>();
  readonly shownDocuments: {
    readonly document: vscode.TextDocument;
    readonly options: vscode.TextDocumentShowOptions;
  }[] = [];
  readonly defaults: Readonly<Record<string, unknown>>;
  readonly settings = new Map<string, unknown>();
  readonly settingsChanged = new EventEmitter<vscode.ConfigurationChangeEvent>();
  readonly diagnostics: [vscode.Uri, vscode.Diagnostic[]][] = [];
  readonly diagnosticsChanged = new EventEmitter<vscode.DiagnosticChangeEvent>();

  readonly appName: string;
  clipboard = '';
  readonly opened: string[] = [];
  extension: vscode.Extension<unknown> | undefined;

  constructor({ proposals = [], folders = [], defaults = {}, isTrusted = true, appName = 'Fake' }: HostOptions = {}) {
    this.proposals = new Set(proposals);
    this.folders = folders;
    this.defaults = defaults;
    this.isTrusted = isTrusted;
    this.appName = appName;
  }

  /** As the real host refuses, word for word. */
  checkProposal(proposal: string): void {
    if (this.proposals.has(proposal)) return;
    const declared = [...this.proposals].join(', ');
    throw new Error(
      `Extension '${EXTENSION_ID}' CANNOT use API proposal: ${proposal}.\n` +
        `Its package.json#enabledApiProposals-property declares: ${declared} but NOT ${proposal}.\n` +
        ' The missing proposal MUST be added and you must start in extension development mode or use the following ' +
        `command line switch: --enable-proposed-api ${EXTENSION_ID}`,
    );
  }

  answer(answer: Answer): void {
    this.answers.push(answer);
    this.questions.at(-1)?.takeAnswers();
  }
}

let current = new Host();

/** The window that is there now. */
export const host = (): Host => current;

export function openHost(options: HostOptions): Host {
  current = new Host(options);
  return current;
}

/** Until what waits for promises that are kept already has gone on. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}
