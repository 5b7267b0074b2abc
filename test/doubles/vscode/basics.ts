import type * as vscode from 'vscode';

export class Disposable implements vscode.Disposable {
  #callOnDispose: (() => unknown) | undefined;

  constructor(callOnDispose: () => unknown) {
    this.#callOnDispose = callOnDispose;
  }

  static from(...disposables: { dispose: () => unknown }[]): Disposable {
    return new Disposable(() => {
      for (const disposable of disposables) disposable.dispose();
    });
  }

  dispose(): void {
    const call = this.#callOnDispose;
    this.#callOnDispose = undefined;
    call?.();
  }
}

export class EventEmitter<T> implements vscode.EventEmitter<T> {
  readonly #listeners = new Set<(event: T) => unknown>();

  readonly event: vscode.Event<T> = (listener, thisArgs, disposables) => {
    const bound = (event: T): unknown => listener.call(thisArgs, event);
    this.#listeners.add(bound);
    const registration = new Disposable(() => this.#listeners.delete(bound));
    disposables?.push(registration);
    return registration;
  };

  /** A listener that throws stops neither the others nor the one who fires; here it fails the test run, in its own time. */
  fire(event: T): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(event);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  dispose(): void {
    this.#listeners.clear();
  }
}

class Token implements vscode.CancellationToken {
  isCancellationRequested = false;
  readonly #emitter = new EventEmitter<unknown>();

  /** Who listens too late is told all the same, a moment later. */
  readonly onCancellationRequested: vscode.Event<unknown> = (listener, thisArgs, disposables) => {
    if (!this.isCancellationRequested) return this.#emitter.event(listener, thisArgs, disposables);
    const timer = setTimeout(() => {
      listener.call(thisArgs, undefined);
    }, 0);
    return new Disposable(() => {
      clearTimeout(timer);
    });
  };

  cancel(): void {
    if (this.isCancellationRequested) return;
    this.isCancellationRequested = true;
    this.#emitter.fire(undefined);
    this.#emitter.dispose();
  }

  dispose(): void {
    this.#emitter.dispose();
  }
}

export class CancellationTokenSource implements vscode.CancellationTokenSource {
  readonly #token = new Token();

  get token(): vscode.CancellationToken {
    return this.#token;
  }

  cancel(): void {
    this.#token.cancel();
  }

  dispose(): void {
    this.#token.dispose();
  }
}

export class CancellationError extends Error implements vscode.CancellationError {
  override name = 'Canceled';

  constructor() {
    super('Canceled');
  }
}

export class MarkdownString implements vscode.MarkdownString {
  isTrusted?: boolean | { readonly enabledCommands: readonly string[] };
  supportHtml?: boolean;
  baseUri?: vscode.Uri;

  constructor(
    public value = '',
    public supportThemeIcons = false,
  ) {}

  appendText(value: string): this {
    this.value += value
      .replace(/[\\`*_{}[\]()#+\-!~]/g, '\\$&')
      .replace(/[ \t]+/g, (spaces) => '&nbsp;'.repeat(spaces.length))
      .replaceAll('>', '\\>')
      .replaceAll('\n', '\n\n');
    return this;
  }

  appendMarkdown(value: string): this {
    this.value += value;
    return this;
  }

  appendCodeblock(code: string, language = ''): this {
    const longest = Math.max(2, ...Array.from(code.matchAll(/^`+/gm), ([ticks]) => ticks.length));
    const fence = '`'.repeat(longest + 1);
    this.value += `\n${fence}${language}\n${code}\n${fence}\n`;
    return this;
  }
}

export class ThemeColor implements vscode.ThemeColor {
  constructor(readonly id: string) {}
}

export class ThemeIcon implements vscode.ThemeIcon {
  static readonly File: vscode.ThemeIcon = new ThemeIcon('file');
  static readonly Folder: vscode.ThemeIcon = new ThemeIcon('folder');
  readonly color?: ThemeColor;

  constructor(
    readonly id: string,
    color?: ThemeColor,
  ) {
    if (color !== undefined) this.color = color;
  }
}

export class FileSystemError extends Error implements vscode.FileSystemError {
  code: string = 'Unknown';

  constructor(messageOrUri: string | vscode.Uri = '') {
    super(typeof messageOrUri === 'string' ? messageOrUri : messageOrUri.toString(true));
    this.name = `${this.code} (FileSystemError)`;
  }

  static readonly FileNotFound = maker('FileNotFound');
  static readonly FileExists = maker('FileExists');
  static readonly FileNotADirectory = maker('FileNotADirectory');
  static readonly FileIsADirectory = maker('FileIsADirectory');
  static readonly NoPermissions = maker('NoPermissions');
  static readonly Unavailable = maker('Unavailable');
}

function maker(code: string) {
  return (messageOrUri?: string | vscode.Uri): FileSystemError => {
    const error = new FileSystemError(messageOrUri);
    error.code = code;
    error.name = `${code} (FileSystemError)`;
    return error;
  };
}
