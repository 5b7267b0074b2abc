import { homedir, hostname, userInfo } from 'node:os';
import * as vscode from 'vscode';
import { messageOf } from '../protocol/messageOf.js';
import type { KnownSecret } from '../selectors/redaction.js';
import type { Connection } from '../store/connections.js';
import type { RetainedTurn } from '../store/retainedTurns.js';
import type { Front } from './front.js';

/** What is known to say who somebody is and where, and the tokens of this window. */
export async function knownSecrets(front: Front, { base }: RetainedTurn): Promise<readonly KnownSecret[]> {
  const connections = [...Object.values(front.app.getState().connections), ...Object.values(base.connections)];
  const known: KnownSecret[] = [
    ...(vscode.workspace.workspaceFolders ?? []).flatMap(({ uri }) => pathsOf('workspace', uri.fsPath)),
    ...pathsOf('home folder', homedir()),
    ...named('user name', userName()),
    ...named('machine name', hostname()),
    ...connections.flatMap(addressOf),
  ];
  for (const { target } of connections) {
    if (target.credential.kind !== 'secret') continue;
    try {
      const value = await front.secrets.read(target.credential.key);
      if (value !== undefined) known.push({ kind: 'token', value });
    } catch (error) {
      front.log.warn(`A token could not be looked up to be redacted: ${messageOf(error)}`);
    }
  }
  return known;
}

function addressOf({ target }: Connection): readonly KnownSecret[] {
  const port = /:(\d{4,5})\/?$/.exec(target.baseUrl)?.[1];
  return [
    { kind: 'client id', value: target.clientId },
    ...(port === undefined ? [] : [{ kind: 'port', value: port } as const]),
    ...(target.credential.kind === 'file' ? pathsOf('credential file', target.credential.path) : []),
  ];
}

/** A path as it is, as an address has it, and as Claude Code makes the name of a folder of it. */
function pathsOf(kind: KnownSecret['kind'], path: string): readonly KnownSecret[] {
  // A root would be part of every path.
  if (!/[\\/][^\\/]/.test(path)) return [];
  return [...new Set([path, encodeURI(path), path.replace(/[^A-Za-z0-9]/g, '-')])].map((value) => ({ kind, value }));
}

/** Names that say nothing of anybody, and are words of many texts. */
const COMMON = [
  'root',
  'user',
  'admin',
  'node',
  'vscode',
  'ubuntu',
  'debian',
  'runner',
  'dev',
  'test',
  'app',
  'git',
  'localhost',
];

function named(kind: KnownSecret['kind'], value: string): readonly KnownSecret[] {
  return COMMON.includes(value.toLowerCase()) ? [] : [{ kind, value }];
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A user without an entry in the system's list.
    return '';
  }
}
