import * as vscode from 'vscode';
import type { ConnectionId } from '../store/connections.js';

/** The type of our sessions, the scheme of their resources and the id of their participant. */
export const SESSION_TYPE = 'supercode';

/** `supercode://<connection>/conversation`: the same for the same runtime and client, in every window. */
export function conversationResource(connection: ConnectionId): vscode.Uri {
  return vscode.Uri.from({ scheme: SESSION_TYPE, authority: connection, path: '/conversation' });
}

/** The connection of a row of the editor's list, which a command of its menu is given. */
export function connectionOfRow(row: unknown): ConnectionId | undefined {
  const resource = (row as { readonly resource?: unknown } | null | undefined)?.resource;
  return resource instanceof vscode.Uri ? connectionIn(resource) : undefined;
}

/** The connection that a resource names; undefined for a session of the editor that is not bound to one yet. */
export function connectionIn(resource: vscode.Uri | undefined): ConnectionId | undefined {
  return resource?.scheme === SESSION_TYPE && resource.path === '/conversation' && resource.authority !== ''
    ? resource.authority
    : undefined;
}
