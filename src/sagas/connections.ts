import { buffers, channel, type Task } from 'redux-saga';
import { call, cancel, cancelled, delay, fork, put, race, take } from 'typed-redux-saga';
import { messageOf } from '../protocol/messageOf.js';
import { isFinal } from '../protocol/refusal.js';
import { selectTurn } from '../selectors/turn.js';
import type { EventStream } from '../services/services.js';
import {
  attemptStarted,
  closed,
  closeRequested,
  gaveUp,
  refused,
  type ConnectionId,
  type LossReason,
} from '../store/connections.js';
import { answerFailed, answerRequested } from '../store/requests.js';
import { steerRefused, steerRequested } from '../store/steering.js';
import { interruptRequested, submitRequested } from '../store/turn.js';
import { turnEnded, turnLeft } from '../store/verdicts.js';
import { ATTEMPTS, FIRST_ATTEMPTS, pauseAfter } from './backoff.js';
import { now, refusalOf, services, state, timings, type Arrival, type Link } from './context.js';
import { applyPolicy } from './permissions.js';
import { answerRequests } from './requests.js';
import { steerTurns } from './steering.js';
import { oneForEach } from './oneForEach.js';
import { stopTurns } from './stop.js';
import { followStream } from './stream.js';
import { supervised } from './supervise.js';
import { runTurns } from './turn.js';

/** One saga tree for each connection; a new handover of a known connection replaces the tree. */
export function* runConnections() {
  const running = new Map<ConnectionId, Task>();
  yield* fork(refuseUnconnected, (connection: ConnectionId) => running.get(connection)?.isRunning() === true);
  yield* call(oneForEach, running, (connection: ConnectionId) => supervised(connection, runConnection, connection));
}

/** What a person wants of a connection that is over is refused in words: nothing else would ever answer it. */
function* refuseUnconnected(isConnected: (connection: ConnectionId) => boolean) {
  const message = 'The runtime is not connected; connect to it again and repeat this.';
  while (true) {
    const action = yield* take('*');
    if (submitRequested.match(action)) {
      const { connection, turnId } = action.payload;
      if (!isConnected(connection)) yield* put(turnEnded({ connection, turnId, outcome: 'failed', message }));
    } else if (answerRequested.match(action)) {
      const { connection, answer } = action.payload;
      const requestId = answer.request_id;
      if (!isConnected(connection)) yield* put(answerFailed({ connection, requestId, problem: message }));
    } else if (steerRequested.match(action)) {
      const { connection, steerId } = action.payload;
      if (!isConnected(connection)) yield* put(steerRefused({ connection, steerId, over: false, message }));
    } else if (interruptRequested.match(action)) {
      const { connection, turnId } = action.payload;
      if (!isConnected(connection)) yield* put(turnLeft({ connection, turnId, message }));
    }
  }
}

function* runConnection(connection: ConnectionId) {
  const target = (yield* state()).connections[connection]?.target;
  if (!target) return;
  const { runtime } = yield* services();
  const link: Link = {
    connection,
    runtime: runtime(target),
    inbox: channel<Arrival>(buffers.expanding()),
    lastEventAt: 0,
    stopping: new Set(),
  };
  const parts = yield* fork(runParts, link);
  const isCloseOf = (action: unknown) => closeRequested.match(action) && action.payload.connection === connection;
  try {
    const { over } = yield* race({ over: call(stayAttached, link), closing: take(isCloseOf) });
    if (over) {
      yield* put(over);
      yield* call(leaveTurn, link, whyOver(over));
    } else {
      yield* call(leaveTurn, link, 'This window no longer follows the conversation; the runtime goes on with it.');
      yield* put(closed({ connection }));
    }
  } catch (error) {
    if (!isFinal(error)) throw error;
    yield* put(refused({ connection, refusal: refusalOf(error) }));
    yield* call(leaveTurn, link, messageOf(error));
  } finally {
    yield* cancel(parts);
  }
}

/** What goes on for as long as the connection does, whatever becomes of its streams. */
function* runParts(link: Link) {
  const { connection } = link;
  yield* fork(supervised, `${connection} turn`, runTurns, link);
  yield* fork(supervised, `${connection} steering`, steerTurns, link);
  yield* fork(supervised, `${connection} stop`, stopTurns, link);
  yield* fork(supervised, `${connection} requests`, answerRequests, link);
  yield* fork(supervised, `${connection} permissions`, applyPolicy, link);
}

/** Attaches, follows the stream, attaches again; returns what ends it all. */
function* stayAttached(link: Link) {
  const { connection } = link;
  const { random } = yield* services();
  const pauses = yield* timings();
  let lost: LossReason | null = null;
  let silent: EventStream | undefined;
  let current: EventStream | undefined;
  let number = 0;
  try {
    for (let attempt = 1; ; attempt++) {
      yield* put(attemptStarted({ connection, attempt, lost, at: yield* now() }));
      let fault: { readonly message: string; readonly retryAfterMs?: number | undefined };
      try {
        current = yield* call(openStream, link);
        // Only now: closing the last stream makes a native runtime deny what waits (frontend.v2 §6.1, §8.2).
        silent?.close();
        silent = undefined;
        const end = yield* call(followStream, link, current, ++number);
        // A stream that opened and was only silent is paced by the silence itself: nothing to back off from.
        if (end.alive || end.reason === 'silent') attempt = 0;
        lost = end.reason;
        fault = end.fault ?? { message: 'The event stream of the runtime ended.' };
        if (end.reason === 'silent') silent = current;
        else current.close();
        current = undefined;
      } catch (error) {
        if (isFinal(error)) throw error;
        fault = { message: messageOf(error), ...retryAfterOf(error) };
      }
      if (attempt >= (lost === null ? FIRST_ATTEMPTS : ATTEMPTS)) return gaveUp({ connection, message: fault.message });
      // The first repair of a stream that worked is at once: most ends of a stream are routine.
      if (attempt > 0) yield* delay(pauseAfter(attempt, random(), fault.retryAfterMs, pauses));
    }
  } finally {
    silent?.close();
    current?.close();
  }
}

/**
 * Called as an effect, not delegated to: a `finally` that yields would make the delegating saga go on after its own
 * cancellation. A stream that opens for a saga that is gone would stay open, and keep the runtime's lease, for
 * ever.
 */
function* openStream({ runtime }: Link) {
  const opening = runtime.openEvents();
  try {
    return yield* call(() => opening);
  } finally {
    if (yield* cancelled()) {
      opening.then(
        (stream) => {
          stream.close();
        },
        () => undefined,
      );
    }
  }
}

function* leaveTurn({ connection }: Link, message: string) {
  const turn = selectTurn(yield* state(), connection);
  if (turn.phase !== 'idle') yield* put(turnLeft({ connection, turnId: turn.turnId, message }));
}

function whyOver({ payload }: ReturnType<typeof gaveUp>): string {
  return `The connection to the runtime was lost: ${payload.message}`;
}

function retryAfterOf(error: unknown): { readonly retryAfterMs?: number | undefined } {
  return error instanceof Error && 'retryAfterMs' in error && typeof error.retryAfterMs === 'number'
    ? { retryAfterMs: error.retryAfterMs }
    : {};
}
