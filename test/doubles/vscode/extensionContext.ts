/* eslint-disable @typescript-eslint/no-deprecated -- it has what the API still has */
import { posix } from 'node:path';
import type * as vscode from 'vscode';
import { EventEmitter } from './basics.js';
import { ExtensionKind, ExtensionMode } from './enums.js';
import { EXTENSION_ID, type Host } from './host.js';
import { Uri } from './uri.js';

export class MementoDouble implements vscode.Memento {
  readonly #values = new Map<string, string>();

  keys(): readonly string[] {
    return [...this.#values.keys()];
  }

  /** A value is kept as JSON, as the editor keeps it. */
  get(key: string, fallback?: unknown): never {
    const kept = this.#values.get(key);
    return (kept === undefined ? fallback : JSON.parse(kept)) as never;
  }

  update(key: string, value: unknown): Promise<void> {
    if (value === undefined) this.#values.delete(key);
    else this.#values.set(key, JSON.stringify(value));
    return Promise.resolve();
  }

  setKeysForSync(): void {
    // Nothing is synchronised.
  }
}

export class SecretsDouble implements vscode.SecretStorage {
  /** What it does: a keyring may be locked, wait for a person for ever, or live in memory that is gone. */
  mode: 'works' | 'throws' | 'hangs' | 'forgets' = 'works';
  readonly values = new Map<string, string>();
  readonly #changed = new EventEmitter<vscode.SecretStorageChangeEvent>();
  readonly onDidChange = this.#changed.event;

  keys(): Promise<string[]> {
    return this.#do(() => [...this.values.keys()]);
  }

  get(key: string): Promise<string | undefined> {
    return this.#do(() => this.values.get(key));
  }

  store(key: string, value: string): Promise<void> {
    return this.#do(() => {
      if (this.mode !== 'forgets') this.values.set(key, value);
      this.#changed.fire({ key });
    });
  }

  delete(key: string): Promise<void> {
    return this.#do(() => {
      this.values.delete(key);
      this.#changed.fire({ key });
    });
  }

  #do<T>(what: () => T): Promise<T> {
    if (this.mode === 'throws') return Promise.reject(new Error('The keyring is locked.'));
    if (this.mode === 'hangs') return new Promise(() => undefined);
    return Promise.resolve(what());
  }
}

/** What outlives the extension host: a reload finds it again. */
export interface Stores {
  readonly globalState: MementoDouble;
  readonly workspaceState: MementoDouble;
  readonly secrets: SecretsDouble;
}

export interface ContextOptions {
  readonly extensionPath: string;
  /** The manifest; the grants are put into it. */
  readonly manifest: Readonly<Record<string, unknown>>;
}

export function extensionContext(
  host: Host,
  { globalState, workspaceState, secrets }: Stores,
  { extensionPath, manifest }: ContextOptions,
): vscode.ExtensionContext {
  const extensionUri = Uri.file(extensionPath);
  const folder = (name: string) => Uri.file(`/fake/data/${name}`);
  const extension: vscode.Extension<unknown> = {
    id: EXTENSION_ID,
    extensionUri,
    extensionPath,
    isActive: true,
    // The array that the host filtered, not the one in the manifest.
    packageJSON: { ...manifest, enabledApiProposals: [...host.proposals] },
    extensionKind: ExtensionKind.Workspace,
    exports: undefined,
    activate: () => Promise.resolve(undefined),
  };
  host.extension = extension;
  return {
    subscriptions: [],
    globalState,
    workspaceState,
    secrets,
    extension,
    extensionUri,
    extensionPath,
    extensionMode: ExtensionMode.Test,
    asAbsolutePath: (relative) => posix.join(extensionPath, relative),
    storageUri: folder('workspace'),
    storagePath: folder('workspace').fsPath,
    globalStorageUri: folder('global'),
    globalStoragePath: folder('global').fsPath,
    logUri: folder('logs'),
    logPath: folder('logs').fsPath,
    environmentVariableCollection: undefined as never,
    languageModelAccessInformation: {
      onDidChange: new EventEmitter<undefined>().event as vscode.Event<void>,
      canSendRequest: () => undefined,
    },
  };
}
