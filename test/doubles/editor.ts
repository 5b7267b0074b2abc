import type * as vscode from 'vscode';
import { CancellationTokenSource, FileSystemError } from './vscode/basics.js';
import { extensionContext, MementoDouble, SecretsDouble, type Stores } from './vscode/extensionContext.js';
import { openHost, settled, type Host, type HostOptions } from './vscode/host.js';
import { ResponseStream } from './vscode/responseStream.js';
import { TextDocument, type DocumentOptions } from './vscode/text.js';
import { Uri } from './vscode/uri.js';
import { addDocument, changeSetting } from './vscode/workspace.js';

export interface FakeEditorOptions extends HostOptions {
  readonly manifest?: Readonly<Record<string, unknown>>;
  readonly extensionPath?: string;
}

export interface RequestOptions {
  readonly references?: readonly vscode.ChatPromptReference[];
  readonly toolReferences?: readonly vscode.ChatLanguageModelToolReference[];
  readonly command?: string;
  readonly history?: vscode.ChatContext['history'];
  readonly sessionResource?: vscode.Uri;
}

/** A prompt on its way: what a person sees of it and may do meanwhile. */
export interface TurnDouble {
  readonly stream: ResponseStream;
  /** The handler's result; the stream is closed by then. */
  readonly result: Promise<vscode.ChatResult | undefined>;
  /** The Stop button. */
  readonly stop: () => void;
  /** A prompt was sent meanwhile: the handler is asked to return. */
  readonly askToYield: () => void;
}

/**
 * One window of the editor, in the hand of a test. A new one takes the place of the one before it: nothing is left of its
 * commands, participants, messages and settings.
 */
export class FakeEditor {
  readonly host: Host;
  readonly #stores: Stores;
  readonly #options: FakeEditorOptions;
  /** Chats that a test did not name: each is a new one. */
  #chats = 0;
  #context: vscode.ExtensionContext;

  constructor(options: FakeEditorOptions = {}) {
    this.#options = options;
    this.host = openHost(options);
    this.#stores = {
      globalState: new MementoDouble(),
      workspaceState: new MementoDouble(),
      secrets: new SecretsDouble(),
    };
    this.#context = this.#newContext();
  }

  get context(): vscode.ExtensionContext {
    return this.#context;
  }

  get secrets(): SecretsDouble {
    return this.#stores.secrets;
  }

  /** Disposes of what the extension subscribed; what it stored stays, for a new context. */
  async reload(): Promise<vscode.ExtensionContext> {
    for (const subscription of this.#context.subscriptions.splice(0).toReversed()) {
      await (subscription.dispose() as Promise<void> | undefined);
    }
    this.#context = this.#newContext();
    return this.#context;
  }

  // What a person does.

  /** Picks these labels in the quick pick that is open, or in the next one. */
  pick(...labels: readonly string[]): void {
    this.host.answer({ kind: 'pick', labels });
  }

  /** Types into the input box and presses Enter; in a quick pick it only narrows the list down. */
  type(text: string): void {
    this.host.answer({ kind: 'type', text });
  }

  /** Takes what is there already. */
  enter(): void {
    this.host.answer({ kind: 'enter' });
  }

  escape(): void {
    this.host.answer({ kind: 'escape' });
  }

  back(): void {
    this.host.answer({ kind: 'back' });
  }

  focus(focused: boolean): void {
    this.host.windowState = { focused, active: focused };
    this.host.windowStateChanged.fire(this.host.windowState);
  }

  changeSetting(name: string, value: unknown): void {
    changeSetting(this.host, name, value);
  }

  /** Sends a prompt to a participant, as the Chat view does. */
  send(participant: string, prompt: string, options: RequestOptions = {}): TurnDouble {
    const handler = this.host.participants.get(participant)?.requestHandler;
    if (handler === undefined) throw new Error(`There is no participant ${participant}.`);
    const stream = this.responseStream();
    const source = new CancellationTokenSource();
    const { context, askToYield } = this.chatContext(options.history);
    const answered = async () => {
      try {
        return (await handler(this.chatRequest(prompt, options), context, stream, source.token)) ?? undefined;
      } finally {
        stream.close();
      }
    };
    const stop = () => {
      source.cancel();
    };
    return { stream, result: answered(), stop, askToYield };
  }

  // What the editor has.

  open(uri: vscode.Uri, text: string, options: DocumentOptions = {}): TextDocument {
    return addDocument(this.host, new TextDocument(uri, text, options));
  }

  closeDocument(document: TextDocument): void {
    this.host.documents.splice(this.host.documents.indexOf(document), 1);
    document.isClosed = true;
    this.host.documentsClosed.fire(document);
  }

  writeFile(uri: vscode.Uri, content: string | Uint8Array): vscode.Uri {
    this.host.files.set(uri.toString(), typeof content === 'string' ? new TextEncoder().encode(content) : content);
    return uri;
  }

  /** A file that is there and can't be read. */
  lockFile(uri: vscode.Uri, error: vscode.FileSystemError = FileSystemError.NoPermissions(uri)): vscode.Uri {
    this.host.files.set(uri.toString(), error);
    return uri;
  }

  setDiagnostics(uri: vscode.Uri, diagnostics: vscode.Diagnostic[]): void {
    this.host.diagnostics.push([uri, diagnostics]);
    this.host.diagnosticsChanged.fire({ uris: [uri] });
  }

  /** Gives a command of the editor's own something to do. */
  onCommand(command: string, handler: (...args: unknown[]) => unknown): void {
    this.host.commands.set(command, handler);
  }

  responseStream(): ResponseStream {
    return new ResponseStream(this.host);
  }

  chatRequest(prompt: string, options: RequestOptions = {}): vscode.ChatRequest {
    const request = {
      prompt,
      command: options.command,
      references: options.references ?? [],
      toolReferences: options.toolReferences ?? [],
      toolInvocationToken: undefined as never,
      model: undefined as never,
    } satisfies Pick<
      vscode.ChatRequest,
      'prompt' | 'command' | 'references' | 'toolReferences' | 'toolInvocationToken' | 'model'
    >;
    // Not in the stable API, but there at run time, whatever is granted.
    const more = {
      sessionResource: options.sessionResource ?? Uri.parse(`vscode-chat-session://local/${++this.#chats}`),
    };
    return Object.assign(request, more);
  }

  /** `yieldRequested` is there at run time, whatever is granted. */
  chatContext(history: vscode.ChatContext['history'] = []): { context: vscode.ChatContext; askToYield: () => void } {
    let yieldRequested = false;
    const context = {
      history,
      get yieldRequested() {
        return yieldRequested;
      },
    };
    const askToYield = () => {
      yieldRequested = true;
    };
    return { context, askToYield };
  }

  /** Until what waits for nothing but promises has gone on, and what a person was said to do is done. */
  async settled(): Promise<void> {
    for (let turn = 0; turn < 5; turn++) await settled();
  }

  #newContext(): vscode.ExtensionContext {
    const { extensionPath = '/fake/extension', manifest = {} } = this.#options;
    return extensionContext(this.host, this.#stores, { extensionPath, manifest });
  }
}
