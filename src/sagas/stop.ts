import { call, delay, fork, put, race, take, takeEvery } from 'typed-redux-saga';
import { messageOf } from '../protocol/messageOf.js';
import { selectRefusals } from '../selectors/requests.js';
import { selectTurn } from '../selectors/turn.js';
import type { RootState } from '../store/state.js';
import { answerRequested } from '../store/requests.js';
import { interruptAcknowledged, interruptFailed, interruptRequested, type TurnId } from '../store/turn.js';
import { withControl } from './control.js';
import { now, state, until, type Link } from './context.js';
import { concludeIdle } from './turn.js';

/** What waits is denied once the interrupt is acknowledged, or after this long without an answer. */
const DENY_ANYWAY_MS = 2_000;

/**
 * Stop: asked for, acknowledged by the runtime, ended; each is seen in the state. A runtime acknowledges at once but
 * stops only when nothing waits for an answer (frontend.v2 §8.2), so what waits is denied or cancelled as well.
 */
export function* stopTurns(link: Link) {
  const before = selectTurn(yield* state(), link.connection);
  // A Stop that a former connection was asked for and could not finish.
  if (before.phase === 'interrupting') yield* fork(stop, link, before.turnId);
  yield* takeEvery(
    (action: unknown) => interruptRequested.match(action) && action.payload.connection === link.connection,
    function* ({ payload }: ReturnType<typeof interruptRequested>) {
      yield* call(stop, link, payload.turnId);
    },
  );
}

function* stop(link: Link, turnId: TurnId) {
  const asked = selectTurn(yield* state(), link.connection);
  // A second Stop changes nothing in the state, and asks for nothing more.
  if (asked.phase !== 'interrupting' || asked.turnId !== turnId || link.stopping.has(turnId)) return;
  link.stopping.add(turnId);
  try {
    yield* until((root) => isStarted(root, link, turnId));
    if (!isCurrent(yield* state(), link, turnId)) return;
    yield* fork(interrupt, link, turnId);
    yield* race({
      acknowledged: until((root) => selectTurn(root, link.connection).phase !== 'interrupting'),
      late: delay(DENY_ANYWAY_MS),
    });
    yield* call(denyUntilOver, link, turnId);
  } finally {
    link.stopping.delete(turnId);
  }
}

function* interrupt(link: Link, turnId: TurnId) {
  const { connection } = link;
  try {
    const running = yield* withControl(link, (runtime) => runtime.interrupt());
    yield* put(interruptAcknowledged({ connection, turnId, at: yield* now() }));
    if (!running) yield* call(concludeIdle, link, turnId);
  } catch (error) {
    yield* put(interruptFailed({ connection, turnId, problem: messageOf(error), at: yield* now() }));
  }
}

/** A request may also be raised after the interrupt, by a call that was already on its way. */
function* denyUntilOver(link: Link, turnId: TurnId) {
  const { connection } = link;
  while (isStopping(yield* state(), link, turnId)) {
    for (const answer of selectRefusals(yield* state(), connection)) {
      yield* put(answerRequested({ connection, by: 'stop', ...answer }));
    }
    yield* take('*');
  }
}

function isStarted(root: RootState, link: Link, turnId: TurnId): boolean {
  const turn = selectTurn(root, link.connection);
  return turn.phase !== 'interrupting' || turn.turnId !== turnId || turn.started;
}

function isCurrent(root: RootState, link: Link, turnId: TurnId): boolean {
  const turn = selectTurn(root, link.connection);
  return turn.phase !== 'idle' && turn.turnId === turnId;
}

function isStopping(root: RootState, link: Link, turnId: TurnId): boolean {
  const turn = selectTurn(root, link.connection);
  return (turn.phase === 'interrupting' || turn.phase === 'settling') && turn.turnId === turnId;
}
