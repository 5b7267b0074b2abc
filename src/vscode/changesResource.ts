import * as vscode from 'vscode';
import { title } from '../selectors/bounds.js';
import { selectChangesOf } from '../selectors/turnChanges.js';
import { sha256Hex } from '../services/node/hash.js';
import type { ConnectionId } from '../store/connections.js';
import type { RootState } from '../store/state.js';
import type { TurnId } from '../store/turn.js';
import { CHANGES_SCHEME } from './settings.js';

/** Names a turn in a button or a document, both of which outlive the window. */
export interface TurnReference {
  readonly connection: ConnectionId;
  /** The runtime's name for the conversation; null where it was not heard. */
  readonly sessionId: string | null;
  /** Of this window alone. */
  readonly turnId: TurnId | null;
  /** A digest; null where the turn has no prompt. */
  readonly prompt: string | null;
}

export function turnReference(
  root: RootState,
  connection: ConnectionId,
  { turnId, prompt }: { readonly turnId: TurnId | null; readonly prompt: string | null },
): TurnReference {
  const sessionId = root.transcript[connection]?.sessionId ?? null;
  return { connection, sessionId, turnId, prompt: prompt === null ? null : digestOf(prompt) };
}

export function digestOf(prompt: string): string {
  return sha256Hex(prompt.trim()).slice(0, 16);
}

/** A reference as it comes back from a button or an address: undefined where it is none. */
export function turnReferenceIn(value: unknown): TurnReference | undefined {
  const { connection, sessionId = null, turnId = null, prompt = null } = (value ?? {}) as Partial<TurnReference>;
  const isUsable =
    typeof connection === 'string' &&
    [sessionId, turnId, prompt].every((name: unknown) => name === null || typeof name === 'string');
  return isUsable ? { connection, sessionId, turnId, prompt } : undefined;
}

export function changesUri(reference: TurnReference, prompt: string | null): vscode.Uri {
  // The editor takes the tab's title and the language from the name.
  const name = title(prompt ?? '', 40)
    .replace(/[\\/:*?"<>|#%.]+/g, ' ')
    .trim();
  return vscode.Uri.from({
    scheme: CHANGES_SCHEME,
    path: `/Changes${name === '' ? '' : ` of ${name}`}.diff`,
    query: JSON.stringify(reference),
  });
}

export function referenceOf(uri: vscode.Uri): TurnReference | undefined {
  try {
    return turnReferenceIn(JSON.parse(uri.query));
  } catch {
    return undefined;
  }
}

/** What stands under the response of a turn that changed files. */
export function reviewButton(root: RootState, connection: ConnectionId, turnId: TurnId): vscode.Command | undefined {
  const changed = selectChangesOf(root, connection, turnId);
  if (changed === undefined) return undefined;
  return {
    command: 'supercode.frontend.reviewChanges',
    title: 'Review changes',
    arguments: [turnReference(root, connection, changed)],
  };
}
