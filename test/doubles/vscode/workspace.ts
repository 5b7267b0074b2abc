import { posix } from 'node:path';
import type * as vscode from 'vscode';
import { CancellationTokenSource, Disposable, FileSystemError } from './basics.js';
import { FileType } from './enums.js';
import { host, type Host } from './host.js';
import { TextDocument } from './text.js';
import { Uri } from './uri.js';

const fs: vscode.FileSystem = {
  async stat(uri) {
    const isFile = host().files.has(uri.toString());
    if (!isFile && isFolder(uri)) return { type: FileType.Directory, ctime: 0, mtime: 0, size: 0 };
    return { type: FileType.File, ctime: 0, mtime: 0, size: (await fs.readFile(uri)).length };
  },
  readFile(uri) {
    const file = host().files.get(uri.toString());
    if (file instanceof Uint8Array) return Promise.resolve(file);
    if (isFolder(uri)) return Promise.reject(FileSystemError.FileIsADirectory(uri));
    return Promise.reject(file ?? FileSystemError.FileNotFound(uri));
  },
  writeFile(uri, content) {
    const { files, writeError } = host();
    const there = files.get(uri.toString());
    if (writeError) return Promise.reject(writeError);
    if (there !== undefined && !(there instanceof Uint8Array)) return Promise.reject(there);
    if (isFolder(uri)) return Promise.reject(FileSystemError.FileIsADirectory(uri));
    host().files.set(uri.toString(), content);
    return Promise.resolve();
  },
  delete(uri) {
    const isKnown = host().files.delete(uri.toString());
    return isKnown ? Promise.resolve() : Promise.reject(FileSystemError.FileNotFound(uri));
  },
  readDirectory(uri) {
    const names = new Map<string, vscode.FileType>();
    for (const key of host().files.keys()) {
      const path = key.startsWith(within(uri)) ? key.slice(within(uri).length) : '';
      const [name = '', ...rest] = path.split('/').map(decodeURIComponent);
      if (name !== '') names.set(name, rest.length > 0 ? FileType.Directory : FileType.File);
    }
    return Promise.resolve([...names]);
  },
  createDirectory: notHere,
  rename: notHere,
  copy: notHere,
  isWritableFileSystem: () => true,
};

function notHere(): never {
  throw new Error('The fake editor cannot do that.');
}

const within = (uri: vscode.Uri) => `${uri.toString().replace(/\/$/, '')}/`;

function isFolder(uri: vscode.Uri): boolean {
  const prefix = within(uri);
  const roots = host().folders.map((path) => within(Uri.file(path)));
  return [...roots, ...host().files.keys()].some((key) => key.startsWith(prefix));
}

async function openTextDocument(
  what?: vscode.Uri | string | { readonly language?: string; readonly content?: string },
): Promise<vscode.TextDocument> {
  const named = typeof what === 'string' ? Uri.file(what) : what;
  if (!(named instanceof Uri)) {
    const { language = 'plaintext', content = '' } = (named ?? {}) as { language?: string; content?: string };
    const uri = Uri.from({ scheme: 'untitled', path: `Untitled-${host().documents.length + 1}` });
    return addDocument(host(), new TextDocument(uri, content, { isDirty: true, languageId: language }));
  }
  const open = host().documents.find(({ uri }) => uri.toString() === named.toString());
  const languageId = LANGUAGES[posix.extname(named.path)] ?? 'plaintext';
  return open ?? addDocument(host(), new TextDocument(named, await contentOf(named), { languageId }));
}

/** What the editor's own extensions make of a name. */
const LANGUAGES: Readonly<Record<string, string>> = { '.diff': 'diff', '.md': 'markdown' };

async function contentOf(uri: Uri): Promise<string> {
  const provider = host().contentProviders.get(uri.scheme);
  if (provider === undefined) {
    if (uri.scheme !== 'file') throw new Error(`cannot open ${uri.toString()}. Detail: Unable to resolve resource`);
    return new TextDecoder().decode(await fs.readFile(uri));
  }
  return (await provider.provideTextDocumentContent(uri, new CancellationTokenSource().token)) ?? '';
}

function registerTextDocumentContentProvider(
  scheme: string,
  provider: vscode.TextDocumentContentProvider,
): vscode.Disposable {
  const owner = host();
  owner.contentProviders.set(scheme, provider);
  const changes = provider.onDidChange?.(async (uri) => {
    const open = owner.documents.find((document) => document.uri.toString() === uri.toString());
    if (open === undefined) return;
    open.change((await provider.provideTextDocumentContent(uri, new CancellationTokenSource().token)) ?? '');
    open.isDirty = false;
  });
  return new Disposable(() => {
    changes?.dispose();
    owner.contentProviders.delete(scheme);
  });
}

export function addDocument(into: Host, document: TextDocument): TextDocument {
  into.documents.push(document);
  into.documentsOpened.fire(document);
  return document;
}

const folders = (): readonly vscode.WorkspaceFolder[] =>
  host().folders.map((path, index) => ({ uri: Uri.file(path), name: posix.basename(path), index }));

function getWorkspaceFolder(uri: vscode.Uri): vscode.WorkspaceFolder | undefined {
  return folders()
    .filter((folder) => uri.toString() === folder.uri.toString() || uri.toString().startsWith(within(folder.uri)))
    .toSorted((a, b) => b.uri.path.length - a.uri.path.length)[0];
}

function asRelativePath(pathOrUri: string | vscode.Uri, includeWorkspaceFolder = folders().length > 1): string {
  const uri = typeof pathOrUri === 'string' ? Uri.file(pathOrUri) : pathOrUri;
  const folder = getWorkspaceFolder(uri);
  if (folder === undefined) return typeof pathOrUri === 'string' ? pathOrUri : uri.fsPath;
  const relative = posix.relative(folder.uri.path, uri.path);
  return includeWorkspaceFolder ? posix.join(folder.name, relative) : relative;
}

function getConfiguration(section?: string): vscode.WorkspaceConfiguration {
  const whole = (key: string) => (section === undefined || section === '' ? key : `${section}.${key}`);
  const valueOf = (key: string): unknown => host().settings.get(whole(key)) ?? host().defaults[whole(key)];
  return {
    get: (key: string, fallback?: unknown) => (valueOf(key) ?? fallback) as never,
    has: (key) => valueOf(key) !== undefined,
    inspect: <T>(key: string) => ({
      key: whole(key),
      ...asProperty('defaultValue', host().defaults[whole(key)] as T | undefined),
      ...asProperty('globalValue', host().settings.get(whole(key)) as T | undefined),
    }),
    update: (key, value: unknown) => {
      changeSetting(host(), whole(key), value);
      return Promise.resolve();
    },
  };
}

function asProperty<K extends string, T>(name: K, value: T | undefined): { readonly [name in K]?: T } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [name in K]: T });
}

/** `undefined` takes the setting away. */
export function changeSetting(of: Host, name: string, value: unknown): void {
  if (value === undefined) of.settings.delete(name);
  else of.settings.set(name, value);
  of.settingsChanged.fire({
    affectsConfiguration: (section) => name === section || name.startsWith(`${section}.`),
  });
}

/** The part of the namespace that an extension of ours uses. */
export const workspace: Pick<
  typeof vscode.workspace,
  | 'fs'
  | 'textDocuments'
  | 'workspaceFolders'
  | 'isTrusted'
  | 'asRelativePath'
  | 'getConfiguration'
  | 'getWorkspaceFolder'
  | 'openTextDocument'
  | 'registerTextDocumentContentProvider'
  | 'onDidChangeConfiguration'
  | 'onDidOpenTextDocument'
  | 'onDidCloseTextDocument'
> = {
  fs,
  get textDocuments() {
    return host().documents;
  },
  get workspaceFolders() {
    return folders().length > 0 ? folders() : undefined;
  },
  get isTrusted() {
    return host().isTrusted;
  },
  asRelativePath,
  getConfiguration,
  getWorkspaceFolder,
  openTextDocument,
  registerTextDocumentContentProvider,
  get onDidChangeConfiguration() {
    return host().settingsChanged.event;
  },
  get onDidOpenTextDocument() {
    return host().documentsOpened.event;
  },
  get onDidCloseTextDocument() {
    return host().documentsClosed.event;
  },
};
