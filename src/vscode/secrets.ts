import type * as vscode from 'vscode';

/** A keeper of secrets that hangs is given up after this; ms. */
const PATIENCE_MS = 5_000;

/**
 * Tokens by key. The editor's store may throw, hang or forget: what was given in this window is kept in memory as well,
 * so that it works until the window closes.
 */
export class Secrets {
  private readonly given = new Map<string, string>();

  constructor(private readonly store: vscode.SecretStorage) {}

  async read(key: string): Promise<string | undefined> {
    const given = this.given.get(key);
    return given ?? (await inTime(this.store.get(key)));
  }

  /** A token for this window only, such as one that another extension handed over. */
  lend(key: string, token: string): void {
    this.given.set(key, token);
  }

  /** Returns whether the token outlives this window. */
  async keep(key: string, token: string): Promise<boolean> {
    this.given.set(key, token);
    try {
      await inTime(this.store.store(key, token));
      return (await inTime(this.store.get(key))) === token;
    } catch {
      // What a keeper throws may say what it was to keep.
      return false;
    }
  }

  async forget(key: string): Promise<void> {
    this.given.delete(key);
    await inTime(this.store.delete(key));
  }
}

function inTime<T>(asked: Thenable<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Error('The secret storage of the editor does not answer.'));
    }, PATIENCE_MS);
    Promise.resolve(asked)
      .then(resolve, reject)
      .finally(() => {
        clearTimeout(timer);
      });
  });
}
