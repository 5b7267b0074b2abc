import type { UnknownAction } from '@reduxjs/toolkit';
import type { ConnectionId, ConnectionsState } from './connections.js';
import type { TurnsState } from './turn.js';

/** The times of one conversation that this window knows to be true: epoch ms, null where it saw no such thing. */
export interface Conversation {
  /** The first attachment of this window. */
  readonly attachedAt: number;
  readonly turnStartedAt: number | null;
  readonly turnEndedAt: number | null;
}

export type ConversationsState = Readonly<Record<ConnectionId, Conversation>>;

interface Known {
  readonly connections: ConnectionsState;
  readonly turn: TurnsState;
  readonly conversations: ConversationsState;
}

/**
 * The times after an action, told from what changed by it: a turn begins and ends by many facts, and each of them is one
 * here. A fact without a time of its own changes none.
 */
export function conversationsAfter(before: Known | undefined, after: Known, action: UnknownAction): ConversationsState {
  const { conversations } = after;
  if (before && before.turn === after.turn && before.connections === after.connections) return conversations;
  const at = timeOf(action);
  let next = conversations;
  for (const [id, { phase }] of Object.entries(after.connections)) {
    const known = next[id];
    if (known === undefined && phase.name === 'attached') {
      next = { ...next, [id]: { attachedAt: phase.since, turnStartedAt: null, turnEndedAt: null } };
    }
    const times = next[id];
    if (times === undefined || at === undefined) continue;
    const [was, is] = [before, after].map((state) => (state?.turn[id]?.current.phase ?? 'idle') !== 'idle');
    if (is && !was) next = { ...next, [id]: { ...times, turnStartedAt: at, turnEndedAt: null } };
    else if (was && !is) next = { ...next, [id]: { ...times, turnEndedAt: at } };
  }
  const gone = Object.keys(next).filter((id) => after.connections[id] === undefined);
  return gone.length === 0 ? next : Object.fromEntries(Object.entries(next).filter(([id]) => !gone.includes(id)));
}

function timeOf({ payload, meta }: UnknownAction & { payload?: unknown; meta?: unknown }): number | undefined {
  for (const carrier of [payload, meta]) {
    const at = (carrier as { readonly at?: unknown } | undefined)?.at;
    if (typeof at === 'number') return at;
  }
  return undefined;
}
