import type * as vscode from 'vscode';
import { CancellationTokenSource, Disposable, EventEmitter } from './basics.js';
import { LogLevel, StatusBarAlignment } from './enums.js';
import { host } from './host.js';
import { InputBoxDouble, QuickPickDouble } from './quickInput.js';
import { showInputBox, showQuickPick } from './quickShow.js';

/** A notification; it stays until somebody chooses or closes it. */
export interface MessageDouble {
  readonly level: 'information' | 'warning' | 'error';
  readonly text: string;
  readonly options: vscode.MessageOptions;
  /** What may be chosen. */
  readonly choices: readonly string[];
  /** Chooses by title; closes it without one. */
  readonly choose: (title?: string) => void;
}

export interface StatusItemDouble extends vscode.StatusBarItem {
  readonly isVisible: boolean;
  readonly isDisposed: boolean;
}

export interface ChannelDouble {
  readonly name: string;
  /** Each line behind its level: `info: …`; a channel without levels has no such word. */
  readonly lines: string[];
  readonly shown: { readonly preserveFocus: boolean }[];
}

export interface ProgressDouble {
  readonly options: vscode.ProgressOptions;
  readonly reports: { message?: string; increment?: number }[];
  isOver: boolean;
  readonly cancel: () => void;
}

function shower(level: MessageDouble['level']) {
  return (text: string, ...rest: readonly (string | object)[]): Promise<never> => {
    const [head] = rest;
    const hasOptions = typeof head === 'object' && !('title' in head);
    const items = (hasOptions ? rest.slice(1) : rest) as readonly (string | vscode.MessageItem)[];
    const titleOf = (item: string | vscode.MessageItem) => (typeof item === 'string' ? item : item.title);
    return new Promise<unknown>((resolve) => {
      const choose = (title?: string) => {
        const item = items.find((each) => titleOf(each) === title);
        if (title !== undefined && item === undefined) throw new Error(`"${text}" does not offer "${title}".`);
        resolve(item);
      };
      const options = hasOptions ? (head as vscode.MessageOptions) : {};
      host().messages.push({ level, text, options, choices: items.map(titleOf), choose });
    }) as Promise<never>;
  };
}

class StatusItem implements StatusItemDouble {
  name: string | undefined;
  text = '';
  tooltip: string | vscode.MarkdownString | undefined;
  color: string | vscode.ThemeColor | undefined;
  backgroundColor: vscode.ThemeColor | undefined;
  command: string | vscode.Command | undefined;
  accessibilityInformation: vscode.AccessibilityInformation | undefined;
  isVisible = false;
  isDisposed = false;

  constructor(
    readonly id: string,
    readonly alignment: vscode.StatusBarAlignment,
    readonly priority: number | undefined,
  ) {}

  show(): void {
    this.isVisible = !this.isDisposed;
  }

  hide(): void {
    this.isVisible = false;
  }

  dispose(): void {
    this.isVisible = false;
    this.isDisposed = true;
  }
}

function createStatusBarItem(...args: readonly unknown[]): vscode.StatusBarItem {
  const [id, alignment, priority] = typeof args[0] === 'string' ? args : ['unnamed', ...args];
  const side = (alignment as vscode.StatusBarAlignment | undefined) ?? StatusBarAlignment.Left;
  const item = new StatusItem(id as string, side, priority as number | undefined);
  host().statusItems.push(item);
  return item;
}

class Channel implements ChannelDouble, vscode.LogOutputChannel {
  readonly lines: string[] = [];
  readonly shown: { readonly preserveFocus: boolean }[] = [];
  logLevel: vscode.LogLevel = LogLevel.Info;
  readonly onDidChangeLogLevel = new EventEmitter<vscode.LogLevel>().event;

  constructor(readonly name: string) {}

  append(value: string): void {
    this.lines.push(`${this.lines.pop() ?? ''}${value}`);
  }

  appendLine(value: string): void {
    this.lines.push(value);
  }

  replace(value: string): void {
    this.lines.splice(0, this.lines.length, value);
  }

  clear(): void {
    this.lines.length = 0;
  }

  show(...args: readonly unknown[]): void {
    this.shown.push({ preserveFocus: args.includes(true) });
  }

  hide(): void {
    // Nobody looks.
  }

  dispose(): void {
    // What was written is still to be read by a test.
  }

  readonly trace = this.#writer('trace');
  readonly debug = this.#writer('debug');
  readonly info = this.#writer('info');
  readonly warn = this.#writer('warn');
  readonly error = this.#writer('error');

  #writer(level: string) {
    return (message: string | Error, ...args: readonly unknown[]): void => {
      const words = args.map((arg) => (typeof arg === 'string' ? arg : JSON.stringify(arg)));
      const text = typeof message === 'string' ? message : (message.stack ?? message.message);
      this.lines.push([`${level}: ${text}`, ...words].join(' '));
    };
  }
}

function createOutputChannel(name: string): Channel {
  const channel = new Channel(name);
  host().channels.push(channel);
  return channel;
}

function setStatusBarMessage(text: string, until?: number | Thenable<unknown>): Disposable {
  const message = { text, isShown: true };
  host().statusMessages.push(message);
  const hide = () => {
    message.isShown = false;
  };
  if (typeof until === 'number') setTimeout(hide, until).unref();
  else void until?.then(hide, hide);
  return new Disposable(hide);
}

async function withProgress<R>(
  options: vscode.ProgressOptions,
  task: (
    progress: vscode.Progress<{ message?: string; increment?: number }>,
    token: vscode.CancellationToken,
  ) => Thenable<R>,
): Promise<R> {
  const source = new CancellationTokenSource();
  const reports: { message?: string; increment?: number }[] = [];
  const cancel = () => {
    source.cancel();
  };
  const progress: ProgressDouble = { options, reports, isOver: false, cancel };
  host().progress.push(progress);
  try {
    return await task({ report: (report) => reports.push(report) }, source.token);
  } finally {
    progress.isOver = true;
  }
}

function showSaveDialog(options: vscode.SaveDialogOptions = {}): Promise<vscode.Uri | undefined> {
  return new Promise((resolve) => {
    host().saveDialogs.push({ options, choose: resolve });
  });
}

/** Of an editor a test sees only that it is shown. */
function showTextDocument(document: vscode.TextDocument | vscode.Uri, options?: unknown): Promise<never> {
  if (!('getText' in document)) throw new Error('The fake editor shows documents that are open.');
  host().shownDocuments.push({ document, options: options ?? {} });
  return Promise.resolve(undefined as never);
}

/** The part of the namespace that an extension of ours uses. */
export const window: Pick<
  typeof vscode.window,
  | 'state'
  | 'onDidChangeWindowState'
  | 'activeTextEditor'
  | 'showQuickPick'
  | 'showInputBox'
  | 'createQuickPick'
  | 'createInputBox'
  | 'showInformationMessage'
  | 'showWarningMessage'
  | 'showErrorMessage'
  | 'showSaveDialog'
  | 'showTextDocument'
  | 'createStatusBarItem'
  | 'setStatusBarMessage'
  | 'createOutputChannel'
  | 'withProgress'
> = {
  get state() {
    return host().windowState;
  },
  get onDidChangeWindowState() {
    return host().windowStateChanged.event;
  },
  activeTextEditor: undefined,
  showQuickPick,
  showInputBox,
  createQuickPick: <T extends vscode.QuickPickItem>() => new QuickPickDouble<T>(),
  createInputBox: () => new InputBoxDouble(),
  showInformationMessage: shower('information'),
  showWarningMessage: shower('warning'),
  showErrorMessage: shower('error'),
  showSaveDialog,
  showTextDocument,
  createStatusBarItem,
  setStatusBarMessage,
  createOutputChannel,
  withProgress,
};
