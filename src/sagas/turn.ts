import { call, delay, fork, put, race, takeEvery } from 'typed-redux-saga';
import { messageOf } from '../protocol/messageOf.js';
import { isTurnGoingOn, selectTurn } from '../selectors/turn.js';
import { TransportFault } from '../protocol/refusal.js';
import { attached, described, type ConnectionId } from '../store/connections.js';
import type { RootState } from '../store/state.js';
import { hasBegun, inputAccepted, submitRequested, type TurnId } from '../store/turn.js';
import { turnEnded, turnLeft } from '../store/verdicts.js';
import { Stopped, withControl } from './control.js';
import { ask, isRefusal, services, state, timings, until, type Link } from './context.js';

/** The runtime turns idle a moment after it says that a turn is over (frontend.v2 §6.5). */
const BUSY_PAUSE_MS = 150;

/** Takes prompts to the runtime, and sees to it that each turn ends. */
export function* runTurns(link: Link) {
  yield* takeEvery(
    (action: unknown) => submitRequested.match(action) && action.payload.connection === link.connection,
    submit,
    link,
  );
  yield* takeEvery(isSnapshotOf(link.connection), concludeIfIdle, link);
  const before = selectTurn(yield* state(), link.connection);
  if (before.phase !== 'idle' && !isTurnGoingOn(yield* state(), link.connection)) {
    const replaced = new TransportFault('network', 'The connection was replaced while the prompt was on its way.');
    yield* fork(findOut, link, before.turnId, replaced);
  }
  yield* call(watchSilence, link);
}

/** A snapshot that shows an idle runtime ends a turn that we think runs, unless its own event is on its way. */
function* concludeIfIdle(link: Link) {
  const root = yield* state();
  const turn = selectTurn(root, link.connection);
  const idle = root.connections[link.connection]?.descriptor?.turnState === 'idle';
  if (idle && turn.phase !== 'idle' && isTurnGoingOn(root, link.connection)) {
    yield* call(concludeIdle, link, turn.turnId);
  }
}

function* submit(link: Link, { payload }: ReturnType<typeof submitRequested>) {
  const { connection, turnId } = payload;
  if (!isCurrent(yield* state(), connection, turnId)) {
    yield* put(fail(payload, 'A turn is still running. Stop it or wait for its end; the prompt was not sent.'));
    return;
  }
  try {
    yield* call(send, link, payload);
    yield* put(inputAccepted({ connection, turnId }));
  } catch (error) {
    if (error instanceof Stopped) {
      yield* put(turnEnded({ connection, turnId, outcome: 'interrupted', message: '' }));
    } else if (error instanceof TransportFault) {
      yield* call(findOut, link, turnId, error);
    } else if (isRefusal(error, 'busy')) {
      yield* call(giveWay, link, turnId, messageOf(error));
    } else {
      yield* put(fail(payload, messageOf(error)));
    }
  }
}

/** Our prompt was refused because another client's turn runs, which goes on. */
function* giveWay(link: Link, turnId: TurnId, message: string) {
  const { connection } = link;
  const { phase } = selectTurn(yield* state(), connection);
  if (phase !== 'running' || !isCurrent(yield* state(), connection, turnId)) {
    yield* put(fail({ connection, turnId }, message));
    return;
  }
  yield* put(turnLeft({ connection, turnId, message }));
  yield* put(link.inbox, { kind: 'resync' });
}

function* send(link: Link, { turnId, prompt, imageUrls }: ReturnType<typeof submitRequested>['payload']) {
  const input = () => withControl(link, (runtime) => runtime.sendInput(prompt, imageUrls), notStopped);
  function* notStopped() {
    const turn = selectTurn(yield* state(), link.connection);
    // Running, it is another client's turn of the same words, taken for ours: the runtime's refusal tells.
    return turn.phase === 'submitting' || (turn.phase === 'running' && turn.turnId === turnId);
  }
  // A runtime denies what a turn asks while no stream is open (frontend.v2 §8.2).
  yield* until((root) => isAttached(root, link) || selectTurn(root, link.connection).phase !== 'submitting');
  try {
    yield* input();
  } catch (error) {
    if (!isRefusal(error, 'busy') || !isCurrent(yield* state(), link.connection, turnId)) throw error;
    yield* delay(BUSY_PAUSE_MS);
    yield* input();
  }
}

/**
 * Whether the runtime has the input is not known, and it is never sent twice: what the stream or a fresh snapshot
 * shows decides.
 */
function* findOut(link: Link, turnId: TurnId, fault: TransportFault) {
  const { grace } = yield* timings();
  yield* call(resync, link);
  // The snapshot may have overtaken the prompt on its way.
  yield* race({ begun: until((root) => !isWaiting(root, link, turnId)), late: delay(grace) });
  if (isWaiting(yield* state(), link, turnId)) {
    const message = `${fault.message} The prompt does not seem to have reached the runtime; it was not sent again.`;
    yield* put(turnEnded({ connection: link.connection, turnId, outcome: 'failed', message }));
  }
}

/** Asks for a fresh snapshot and waits until it is there, or until that can't be had soon: then it returns false. */
function* resync(link: Link) {
  const { snapshot } = yield* timings();
  const isThere = snapshotAfter(link, (yield* state()).connections[link.connection]?.phase);
  yield* put(link.inbox, { kind: 'resync' });
  yield* race({ done: until(isThere), late: delay(snapshot) });
  return isThere(yield* state());
}

const snapshotAfter = (link: Link, before: unknown) => (root: RootState) => {
  const phase = root.connections[link.connection]?.phase;
  return phase !== before && phase?.name !== 'connecting' && phase?.name !== 'reconnecting';
};

/** A turn whose end got lost would run for ever: after a long silence the runtime is asked. */
function* watchSilence(link: Link) {
  const { clock } = yield* services();
  const { silentTurn } = yield* timings();
  let caughtUpAt = -Infinity;
  while (true) {
    yield* until((root) => isTurnGoingOn(root, link.connection));
    let since = clock.monotonic();
    while (isTurnGoingOn(yield* state(), link.connection)) {
      const quietSince = Math.max(since, link.lastEventAt);
      const rest = quietSince + silentTurn - clock.monotonic();
      if (rest > 0) {
        yield* race({ passed: delay(rest), over: until((root) => !isTurnGoingOn(root, link.connection)) });
        continue;
      }
      since = clock.monotonic();
      yield* call(askAfterTurn, link);
      // Should the last event before this silence have been lost, perhaps a request, nothing behind it would tell.
      const { phase } = selectTurn(yield* state(), link.connection);
      if (link.lastEventAt === caughtUpAt || (phase !== 'running' && phase !== 'settling')) continue;
      caughtUpAt = link.lastEventAt;
      yield* call(resync, link);
    }
  }
}

function* askAfterTurn(link: Link) {
  const asked = selectTurn(yield* state(), link.connection);
  try {
    const descriptor = yield* ask(link, (runtime) => runtime.describe());
    yield* put(described({ connection: link.connection, descriptor }));
    if (descriptor.turnState === 'idle' && asked.phase !== 'idle') yield* call(concludeIdle, link, asked.turnId);
  } catch (error) {
    // The stream's saga repairs a line that is down; the next silence asks again.
    const { log } = yield* services();
    log(`Could not ask whether the turn still runs: ${messageOf(error)}`);
  }
}

/**
 * The runtime is idle, so a turn that we think runs is over. Its own event, live or in a snapshot's replay, says how
 * it ended; only where none comes is it ended without.
 */
export function* concludeIdle(link: Link, turnId: TurnId) {
  const { grace } = yield* timings();
  yield* race({ over: until(isOver(link, turnId)), late: delay(grace) });
  if (isOver(link, turnId)(yield* state())) return;
  const isFresh = yield* resync(link);
  const root = yield* state();
  const turn = selectTurn(root, link.connection);
  if (turn.phase === 'idle' || turn.turnId !== turnId) return;
  // It may have begun right behind what we heard, or the line may be down: the next snapshot tells.
  if (!isFresh || root.connections[link.connection]?.descriptor?.turnState !== 'idle') return;
  const stopped = turn.phase === 'settling';
  yield* put(
    turnEnded({
      connection: link.connection,
      turnId,
      outcome: stopped ? 'interrupted' : 'failed',
      message: stopped ? '' : 'The runtime is idle, but it never said how this turn ended.',
    }),
  );
}

function isAttached(root: RootState, { connection }: Link): boolean {
  return root.connections[connection]?.phase.name === 'attached';
}

/** Whether a prompt of ours is on its way, as far as we heard. */
function isWaiting(root: RootState, link: Link, turnId: TurnId): boolean {
  const turn = selectTurn(root, link.connection);
  return turn.phase !== 'idle' && turn.turnId === turnId && !hasBegun(turn);
}

const isOver = (link: Link, turnId: TurnId) => (root: RootState) => !isCurrent(root, link.connection, turnId);

function isCurrent(root: RootState, connection: ConnectionId, turnId: TurnId): boolean {
  const turn = selectTurn(root, connection);
  return turn.phase !== 'idle' && turn.turnId === turnId;
}

function fail({ connection, turnId }: { connection: ConnectionId; turnId: TurnId }, message: string) {
  return turnEnded({ connection, turnId, outcome: 'failed', message });
}

const isSnapshotOf = (connection: ConnectionId) => (action: unknown) =>
  attached.match(action) && action.payload.connection === connection;
