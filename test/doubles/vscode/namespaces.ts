import type * as vscode from 'vscode';
import { Disposable, EventEmitter } from './basics.js';
import { LogLevel, UIKind } from './enums.js';
import { host } from './host.js';

function registerCommand(command: string, callback: (...args: unknown[]) => unknown, thisArg?: unknown): Disposable {
  const owner = host();
  if (owner.commands.has(command)) throw new Error(`command '${command}' already exists`);
  const handler = (...args: unknown[]) => callback.apply(thisArg, args);
  owner.commands.set(command, handler);
  return new Disposable(() => {
    if (owner.commands.get(command) === handler) owner.commands.delete(command);
  });
}

/** A command of the editor's own is noted and does nothing, unless a test gave it something to do. */
async function executeCommand(command: string, ...args: unknown[]): Promise<never> {
  host().executed.push({ command, args });
  if (command === 'setContext') host().contextKeys.set(String(args[0]), args[1]);
  const handler = host().commands.get(command);
  if (handler === undefined && command.startsWith('supercode.')) throw new Error(`command '${command}' not found`);
  return (await handler?.(...args)) as never;
}

export const commands: Pick<typeof vscode.commands, 'registerCommand' | 'executeCommand' | 'getCommands'> = {
  registerCommand,
  executeCommand,
  getCommands: () => Promise.resolve([...host().commands.keys()]),
};

export const env: Pick<
  typeof vscode.env,
  | 'appName'
  | 'appHost'
  | 'appRoot'
  | 'uriScheme'
  | 'language'
  | 'machineId'
  | 'sessionId'
  | 'remoteName'
  | 'shell'
  | 'uiKind'
  | 'logLevel'
  | 'onDidChangeLogLevel'
  | 'clipboard'
  | 'openExternal'
  | 'asExternalUri'
> = {
  get appName() {
    return host().appName;
  },
  appHost: 'desktop',
  appRoot: '/fake/app',
  uriScheme: 'vscode',
  language: 'en',
  machineId: 'fake-machine',
  sessionId: 'fake-session',
  remoteName: undefined,
  shell: '/bin/sh',
  uiKind: UIKind.Desktop,
  logLevel: LogLevel.Info,
  onDidChangeLogLevel: new EventEmitter<vscode.LogLevel>().event,
  clipboard: {
    readText: () => Promise.resolve(host().clipboard),
    writeText: (text) => {
      host().clipboard = text;
      return Promise.resolve();
    },
  },
  openExternal: (target) => {
    host().opened.push(target.toString());
    return Promise.resolve(true);
  },
  asExternalUri: (target) => Promise.resolve(target),
};

function getDiagnostics(resource?: vscode.Uri): never {
  const all = host().diagnostics;
  if (resource === undefined) return all as never;
  return all.flatMap(([uri, found]) => (uri.toString() === resource.toString() ? found : [])) as never;
}

export const languages: Pick<typeof vscode.languages, 'getDiagnostics' | 'onDidChangeDiagnostics'> = {
  getDiagnostics,
  get onDidChangeDiagnostics() {
    return host().diagnosticsChanged.event;
  },
};

export const extensions: Pick<typeof vscode.extensions, 'getExtension' | 'all' | 'onDidChange'> = {
  getExtension: (id: string): never => (host().extension?.id === id ? host().extension : undefined) as never,
  get all() {
    return [host().extension ?? []].flat();
  },
  onDidChange: new EventEmitter<undefined>().event as vscode.Event<void>,
};
