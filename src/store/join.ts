import { isHosted, type Snapshot } from '../protocol/frontend-v2.js';
import { TERMINAL_KINDS, type EventBody } from '../protocol/frontend-v2-events.js';
import { apply, forceEnd, note, retell, withdraw } from './apply.js';
import { without, type ConnectionId } from './connections.js';
import { recoverFromHistory } from './recover.js';
import { undrawn, unresolvedIds } from './requests.js';
import { cursorOf, withRequests, withTranscript, withTurn, type RootState } from './state.js';
import { EMPTY_TRANSCRIPT, endOf, type Transcript } from './transcript.js';
import { foundBusy, hasBegun, isStopping, NO_TURN } from './turn.js';

type Continuity = 'first' | 'same' | 'restarted' | 'replaced';

/** Whether a snapshot goes on from what is known: the rule of frontend.v2 §6.2. */
function continuityOf(transcript: Transcript, snapshot: Snapshot): Continuity {
  if (transcript.sessionId === null) return 'first';
  const { sessionId } = snapshot.descriptor;
  return continuesFrom(transcript.sessionId, transcript.cursor, { sessionId, sequence: reachOf(snapshot) });
}

/** The last sequence that a snapshot tells of. */
function reachOf({ historyCursor, replay }: Snapshot): number {
  return Math.max(historyCursor, replay.at(-1)?.sequence ?? 0);
}

/** A snapshot joins what is known: the history, what was missed, what the runtime retained, and what it does now. */
export function join(state: RootState, connection: ConnectionId, snapshot: Snapshot, at: number): RootState {
  const known = state.transcript[connection] ?? EMPTY_TRANSCRIPT;
  const continuity = continuityOf(known, snapshot);
  const joined = goOn(state, connection, snapshot, continuity, at);
  const heard = continuity === 'first' ? known.cursor : 0;
  const replayed = snapshot.replay.reduce((current, event) => {
    if (event.sequence <= cursorOf(current, connection)) return current;
    return (event.sequence <= heard ? retell : apply)(current, connection, event, at);
  }, joined);
  return settle(replayed, connection, snapshot, at);
}

function goOn(
  state: RootState,
  connection: ConnectionId,
  snapshot: Snapshot,
  continuity: Continuity,
  at: number,
): RootState {
  switch (continuity) {
    case 'first':
      return sinceHeard(startOver(state, connection, snapshot), connection, snapshot, at);
    case 'replaced':
      return replace(state, connection, snapshot);
    case 'same':
    case 'restarted':
      return catchUp(state, connection, snapshot, continuity, at);
  }
}

function startOver(state: RootState, connection: ConnectionId, snapshot: Snapshot): RootState {
  const known = state.transcript[connection] ?? EMPTY_TRANSCRIPT;
  const requests = state.requests[connection];
  return withTranscript(requests ? withRequests(state, connection, undrawn(requests)) : state, connection, {
    ...newTranscript(snapshot),
    epoch: known.epoch,
    generation: endOf(known) > 0 ? known.generation + 1 : known.generation,
  });
}

/** Says what became of the turn that an earlier window left running; a restart in between turns takes nothing away. */
function sinceHeard(state: RootState, connection: ConnectionId, snapshot: Snapshot, at: number): RootState {
  const heard = state.connections[connection]?.before.heard;
  if (!heard?.running) return state;
  const { sessionId } = snapshot.descriptor;
  const since = continuesFrom(heard.sessionId, heard.sequence, { sessionId, sequence: reachOf(snapshot) });
  if (since === 'same') return state;
  if (since === 'replaced') return note(state, connection, { about: 'replaced' });
  const { prompt } = heard.running;
  const isSaved = prompt === null || snapshot.history.findLast(({ role }) => role === 'user')?.text === prompt;
  const lost: readonly EventBody[] = isSaved ? [] : [{ kind: 'user_message', text: prompt }, { kind: 'turn_started' }];
  const told = lost.reduce((current, body) => tell(current, connection, body, at), state);
  return startEpoch(endWithProcess(told, connection), connection);
}

/** Tells as an event what no event of the runtime tells. */
function tell(state: RootState, connection: ConnectionId, body: EventBody, at: number): RootState {
  return apply(state, connection, { sequence: cursorOf(state, connection), ...body }, at);
}

/** Whether a runtime that is now at `now` is the process that was heard up to `sequence`. */
export function continuesFrom(
  sessionId: string,
  sequence: number,
  now: { readonly sessionId: string; readonly sequence: number },
): 'same' | 'restarted' | 'replaced' {
  if (now.sessionId !== sessionId) return 'replaced';
  return now.sequence < sequence ? 'restarted' : 'same';
}

/** Another conversation: what was known of the former one, and who answers its requests, does not hold for it. */
function replace(state: RootState, connection: ConnectionId, snapshot: Snapshot): RootState {
  const known = state.transcript[connection] ?? EMPTY_TRANSCRIPT;
  const left = abandonTurn(state, connection, 'The runtime now serves another conversation.');
  const asking = { ...left, permissions: without(left.permissions, connection) };
  return withTranscript(withRequests(asking, connection, {}), connection, {
    ...newTranscript(snapshot),
    epoch: known.epoch + 1,
    generation: known.generation + 1,
  });
}

/** What came live before the first snapshot is in its history or replay: shown once, from there. */
function newTranscript({ descriptor, history, historyCursor }: Snapshot): Transcript {
  return { ...EMPTY_TRANSCRIPT, cursor: historyCursor, sessionId: descriptor.sessionId, history };
}

function catchUp(
  state: RootState,
  connection: ConnectionId,
  snapshot: Snapshot,
  continuity: Continuity,
  at: number,
): RootState {
  const known = state.transcript[connection] ?? EMPTY_TRANSCRIPT;
  const behind = continuity === 'restarted' || snapshot.historyCursor > known.cursor;
  const recovered = behind ? recover(state, connection, snapshot, continuity === 'restarted', at) : state;
  const restarted =
    continuity === 'restarted' ? startEpoch(endWithProcess(recovered, connection), connection) : recovered;
  const transcript = restarted.transcript[connection] ?? EMPTY_TRANSCRIPT;
  return withTranscript(restarted, connection, {
    ...transcript,
    cursor: continuity === 'restarted' ? snapshot.historyCursor : Math.max(transcript.cursor, snapshot.historyCursor),
  });
}

function recover(state: RootState, connection: ConnectionId, snapshot: Snapshot, over: boolean, at: number): RootState {
  const replay = (current: RootState, body: EventBody) => tell(current, connection, body, at);
  // A turn of which only the prompt was heard was begun as well: the runtime says both in one breath (§6.5).
  const { current, prompted } = state.turn[connection] ?? NO_TURN;
  const isTheirs = current.phase === 'submitting' && prompted?.trim() !== current.prompt.trim();
  const begun = prompted === null || isTheirs ? state : replay(state, { kind: 'turn_started' });
  const turn = begun.turn[connection]?.current;
  const sent = turn && 'prompt' in turn ? turn.prompt : null;
  const expected = turn?.phase === 'submitting' && turn.accepted ? sent : null;
  const known = begun.transcript[connection] ?? EMPTY_TRANSCRIPT;
  const missed = recoverFromHistory(known, snapshot.history, expected, over, sent);
  if (missed === undefined) return note(begun, connection, { about: 'unmatched' });
  return (isStopping(begun.turn[connection]) ? asStopped(missed) : missed).reduce(replay, begun);
}

/** The saved messages don't tell how a turn that was cut short ended: the one that we stopped did so by that. */
function asStopped(missed: readonly EventBody[]): readonly EventBody[] {
  const end = missed.findIndex(({ kind }) => TERMINAL_KINDS.some((terminal) => terminal === kind));
  return missed[end]?.kind === 'turn_failed' ? missed.with(end, { kind: 'turn_interrupted' }) : missed;
}

/** Another process: its sequences and request ids are not those that we know. */
function startEpoch(state: RootState, connection: ConnectionId): RootState {
  const told = note(state, connection, { about: 'restarted' });
  const transcript = told.transcript[connection] ?? EMPTY_TRANSCRIPT;
  return withTranscript(withRequests(told, connection, {}), connection, { ...transcript, epoch: transcript.epoch + 1 });
}

/** Whatever ran died with the process that ran it. What has not begun may be on its way to the next one. */
function endWithProcess(state: RootState, connection: ConnectionId): RootState {
  const current = state.turn[connection]?.current;
  return current && hasBegun(current)
    ? abandonTurn(state, connection, 'The runtime was restarted and this turn was lost.')
    : withdrawAll(state, connection);
}

function abandonTurn(state: RootState, connection: ConnectionId, message: string): RootState {
  const current = state.turn[connection]?.current;
  const ended =
    current === undefined || current.phase === 'idle'
      ? state
      : forceEnd(state, connection, current.turnId, 'failed', message);
  return withdrawAll(ended, connection);
}

function withdrawAll(state: RootState, connection: ConnectionId): RootState {
  return withdraw(state, connection, unresolvedIds(state.requests[connection] ?? {}), 'restarted');
}

/**
 * What the descriptor adds. It was read after the replay, so `idle` may be newer than the last event: a turn that we
 * think runs is given the time to end by its own event. Requests wait only in a running turn, except on a hosted
 * runtime, which keeps them (§8.2).
 */
function settle(state: RootState, connection: ConnectionId, { descriptor, replay }: Snapshot, at: number): RootState {
  const turn = state.turn[connection] ?? NO_TURN;
  if (descriptor.turnState === 'busy') {
    const last = replay.findLast(({ kind }) => kind.startsWith('turn_') && kind !== 'turn_completed')?.kind;
    const over = last === 'turn_succeeded' || last === 'turn_failed' || last === 'turn_interrupted';
    return over ? state : withTurn(state, connection, foundBusy(turn, at));
  }
  if (turn.current.phase !== 'idle' || isHosted(descriptor)) return state;
  return withdraw(state, connection, unresolvedIds(state.requests[connection] ?? {}), 'turnEnded');
}
