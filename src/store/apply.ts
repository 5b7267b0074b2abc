import { isHosted } from '../protocol/frontend-v2.js';
import type { RuntimeEvent } from '../protocol/frontend-v2-events.js';
import type { RuntimeRequest } from '../protocol/requests.js';
import type { ConnectionId } from './connections.js';
import { afterRequest, afterResolution, afterWithdrawal, unresolvedIds } from './requests.js';
import { withRequests, withTranscript, withTurn, type RootState } from './state.js';
import {
  add,
  advance,
  applyEvent,
  EMPTY_TRANSCRIPT,
  endTurn,
  type Note,
  type Outcome,
  type Transcript,
  type WithdrawalReason,
} from './transcript.js';
import { afterEnd, afterForcedEnd, afterTurnEvent, isStopping, NO_TURN, type TurnId, type TurnState } from './turn.js';

/** The state after an event that is no repeat. */
export function apply(state: RootState, connection: ConnectionId, event: RuntimeEvent, at: number): RootState {
  const transcript = state.transcript[connection] ?? EMPTY_TRANSCRIPT;
  switch (event.kind) {
    case 'request': {
      const requests = afterRequest(state.requests[connection] ?? {}, event.request, heldUp(transcript, event.request));
      return requests
        ? withTranscript(withRequests(state, connection, requests), connection, applyEvent(transcript, event))
        : withTranscript(state, connection, advance(transcript, event));
    }
    case 'request_resolved': {
      const requests = afterResolution(state.requests[connection] ?? {}, event.requestId, event.resolution);
      return requests
        ? withTranscript(withRequests(state, connection, requests), connection, applyEvent(transcript, event))
        : withTranscript(state, connection, advance(transcript, event));
    }
    case 'user_message':
    case 'turn_started': {
      const turn = afterTurnEvent(state.turn[connection] ?? NO_TURN, event, at);
      return withTranscript(withTurn(state, connection, turn), connection, applyEvent(transcript, event));
    }
    case 'turn_succeeded':
    case 'turn_interrupted':
    case 'turn_failed': {
      const seen = withTranscript(state, connection, advance(transcript, event));
      const { outcome, message } = outcomeOf(state, connection, event);
      return end(seen, connection, (turn) => afterEnd(turn, outcome, message), outcome, message);
    }
    case 'tool_call_completed': {
      // A call that waited for an answer goes on: the runtime gave the answer itself, and says nothing of it (§8.2).
      const requests = state.requests[connection] ?? {};
      const moot = unresolvedIds(requests).filter(
        (id) => event.callId !== null && requests[id]?.callId === event.callId,
      );
      return withdraw(withTranscript(state, connection, applyEvent(transcript, event)), connection, moot, 'notHeld');
    }
    default:
      return withTranscript(state, connection, applyEvent(transcript, event));
  }
}

/** The state after an event that it heard before: told again to a transcript that starts over, it begins and ends no turn. */
export function retell(state: RootState, connection: ConnectionId, event: RuntimeEvent, at: number): RootState {
  const transcript = state.transcript[connection] ?? EMPTY_TRANSCRIPT;
  switch (event.kind) {
    case 'user_message':
    case 'turn_started':
      return withTranscript(state, connection, applyEvent(transcript, event));
    case 'turn_succeeded':
    case 'turn_interrupted':
    case 'turn_failed': {
      const told = { turnId: null, ...outcomeOf(state, connection, event) };
      return withTranscript(state, connection, endTurn(advance(transcript, event), told));
    }
    default:
      return apply(state, connection, event, at);
  }
}

/** Neither side names the call that a request belongs to; the order of the events tells (§8.1). */
function heldUp({ openCalls }: Transcript, { body }: RuntimeRequest): string | null {
  const call = openCalls.findLast(
    ({ completed, name }) => !completed && (body.kind !== 'approval' || name === body.tool),
  );
  return call?.callId ?? null;
}

type TerminalEvent = RuntimeEvent & { readonly kind: 'turn_succeeded' | 'turn_interrupted' | 'turn_failed' };

function outcomeOf(
  state: RootState,
  connection: ConnectionId,
  event: TerminalEvent,
): { readonly outcome: Outcome; readonly message: string } {
  if (event.kind === 'turn_succeeded') return { outcome: 'succeeded', message: '' };
  if (event.kind === 'turn_interrupted') return { outcome: 'interrupted', message: '' };
  // A hosted runtime has no event for an interrupted turn: what we stopped is reported as failed (§6.5).
  const stopped = isHosted(state.connections[connection]?.descriptor) && isStopping(state.turn[connection]);
  return stopped ? { outcome: 'interrupted', message: '' } : { outcome: 'failed', message: event.message };
}

/** A turn's end retires what waited in it and what was left unfinished. */
function end(
  state: RootState,
  connection: ConnectionId,
  over: (turn: TurnState) => TurnState,
  outcome: Outcome,
  message: string,
): RootState {
  const before = state.turn[connection] ?? NO_TURN;
  const after = over(before);
  const finished = after.ended === before.ended ? undefined : after.ended.at(-1);
  const retired = withdraw(state, connection, unresolvedIds(state.requests[connection] ?? {}), 'turnEnded');
  const transcript = endTurn(retired.transcript[connection] ?? EMPTY_TRANSCRIPT, {
    turnId: finished?.turnId ?? null,
    outcome,
    message,
  });
  return withTranscript(withTurn(retired, connection, after), connection, transcript);
}

/** A turn is over though no event said so; see `turnEnded`. */
export function forceEnd(
  state: RootState,
  connection: ConnectionId,
  turnId: TurnId,
  outcome: Outcome,
  message: string,
): RootState {
  const turn = state.turn[connection] ?? NO_TURN;
  const { current } = turn;
  if (current.phase === 'idle' || current.turnId !== turnId) {
    return withTurn(state, connection, afterForcedEnd(turn, turnId, outcome, message));
  }
  const begun = current.phase !== 'submitting' && (current.phase !== 'interrupting' || current.started);
  return begun
    ? end(state, connection, (before) => afterForcedEnd(before, turnId, outcome, message), outcome, message)
    : leave(state, connection, turnId, outcome, message);
}

/** The turn is over for us alone: what the runtime waits for and works on goes on. */
export function leave(
  state: RootState,
  connection: ConnectionId,
  turnId: TurnId,
  outcome: Outcome,
  message: string,
): RootState {
  const turn = afterForcedEnd(state.turn[connection] ?? NO_TURN, turnId, outcome, message);
  const transcript = add(state.transcript[connection] ?? EMPTY_TRANSCRIPT, {
    kind: 'turnEnd',
    turnId,
    outcome,
    message,
  });
  return withTranscript(withTurn(state, connection, turn), connection, transcript);
}

export function withdraw(
  state: RootState,
  connection: ConnectionId,
  ids: readonly number[],
  reason: WithdrawalReason,
): RootState {
  const requests = state.requests[connection];
  if (requests === undefined || ids.length === 0) return state;
  const shown = ids.filter((id) => requests[id]?.request);
  const transcript = shown.reduce<Transcript>(
    (current, requestId) => add(current, { kind: 'withdrawn', requestId, reason }),
    state.transcript[connection] ?? EMPTY_TRANSCRIPT,
  );
  return withTranscript(
    withRequests(state, connection, afterWithdrawal(requests, ids, reason)),
    connection,
    transcript,
  );
}

export function note(state: RootState, connection: ConnectionId, about: Note): RootState {
  const transcript = state.transcript[connection];
  return transcript ? withTranscript(state, connection, add(transcript, { kind: 'note', note: about })) : state;
}
