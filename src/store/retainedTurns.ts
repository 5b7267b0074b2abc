import { forgotten, type ConnectionId } from './connections.js';
import { isEventReceived } from './events.js';
import type { RecentActions } from './recentActions.js';
import { retell, type Seen } from './retell.js';
import type { RootState } from './state.js';
import { submitRequested, type EndedTurn, type TurnId } from './turn.js';

/** One turn of one conversation, as the actions that made it. */
export interface RetainedTurn {
  readonly connection: ConnectionId;
  readonly turnId: TurnId;
  /** What was asked; null where no prompt of the turn was heard. */
  readonly prompt: string | null;
  /** The state in front of the first action: the turn has begun in it where its beginning is no longer retained. */
  readonly base: RootState;
  readonly seen: readonly Seen[];
  /** Undefined while it goes on. */
  readonly ended: EndedTurn | undefined;
}

/** The turns of a conversation of which actions are retained, oldest first. */
export function retainedTurns(recent: RecentActions, connection: ConnectionId): readonly RetainedTurn[] {
  const turns: RetainedTurn[] = [];
  let open: Draft | undefined;
  let last: RootState | undefined;
  const close = (state: RootState) => {
    const turn = open && finished(open, connection, state);
    if (turn) turns.push(turn);
    open = undefined;
  };
  retell(recent, connection, (seen, before, after) => {
    last = after;
    if (forgotten.match(seen.action)) {
      turns.length = 0;
      open = undefined;
      return;
    }
    if (!open && isBusy(before, connection)) open = draft(before, turnIdOf(before, connection));
    if (!open && isBusy(after, connection)) open = draft(before);
    if (!open) return;
    take(open, seen, after, connection);
    if (isBusy(after, connection) && [undefined, turnIdOf(after, connection)].includes(open.turnId)) return;
    close(after);
    // One fact may end a turn and begin the next one.
    if (!isBusy(after, connection)) return;
    open = draft(before);
    take(open, seen, after, connection);
  });
  if (last) close(last);
  return turns;
}

interface Draft {
  turnId: TurnId | undefined;
  prompt: string | null;
  readonly base: RootState;
  readonly seen: Seen[];
}

function draft(base: RootState, turnId?: TurnId): Draft {
  return { turnId, prompt: null, base, seen: [] };
}

function take(into: Draft, seen: Seen, after: RootState, connection: ConnectionId): void {
  into.seen.push(seen);
  into.turnId ??= turnIdOf(after, connection);
  const { action } = seen;
  if (submitRequested.match(action)) into.prompt ??= action.payload.prompt;
  else if (isEventReceived(action) && action.payload.kind === 'user_message') into.prompt ??= action.payload.text;
  else into.prompt ??= after.turn[connection]?.prompted ?? null;
}

function finished({ turnId, ...rest }: Draft, connection: ConnectionId, state: RootState): RetainedTurn | undefined {
  if (turnId === undefined) return undefined;
  const ended = state.turn[connection]?.ended.findLast((end) => end.turnId === turnId);
  return { ...rest, connection, turnId, ended };
}

function turnIdOf(state: RootState, connection: ConnectionId): TurnId | undefined {
  const current = state.turn[connection]?.current;
  return current === undefined || current.phase === 'idle' ? undefined : current.turnId;
}

/** A prompt that the runtime took is part of the turn that it begins. */
export function isBusy(state: RootState, connection: ConnectionId): boolean {
  return turnIdOf(state, connection) !== undefined || (state.turn[connection]?.prompted ?? null) !== null;
}
