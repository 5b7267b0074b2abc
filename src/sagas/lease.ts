import { delay, put, take } from 'typed-redux-saga';
import { isFinal } from '../protocol/refusal.js';
import { described } from '../store/connections.js';
import { reported } from '../store/lease.js';
import { askForControl } from './control.js';
import { ask, services, state, type Link } from './context.js';

const HEARTBEATS_PER_TTL = 3;
const PAUSE_BEFORE_TAKING_MS = 1_000;

/**
 * Takes control and keeps it renewed until cancelled; started anew at each attachment, because the runtime frees the
 * lease of a client whose stream closes. Control that another client took is not fought for: renewing goes on once a
 * mutation of ours has taken it back. Control that nobody has (it ran out while this machine slept, or a window with
 * the same client id closed) is taken again.
 */
export function* holdControl(link: Link) {
  try {
    yield* keepControl(link);
  } catch (error) {
    // A refusal that is final reaches the stream's saga too, where it ends the connection.
    if (!isFinal(error)) throw error;
  }
}

function* keepControl(link: Link) {
  if (!(yield* maySubmit(link))) return;
  const before = (yield* state()).lease[link.connection];
  // Control that another client took while our last stream was up is still not fought for.
  const taken = before?.phase === 'lost' && before.holder !== null;
  yield* askUnlessDown(link, (runtime) => (taken ? runtime.heartbeat() : runtime.takeControl()));
  while (true) {
    const lease = (yield* state()).lease[link.connection];
    if (lease?.phase === 'controlling') {
      yield* pauseUntil(lease.renewedAt + lease.ttlMs / HEARTBEATS_PER_TTL, lease.ttlMs / HEARTBEATS_PER_TTL);
      // A heartbeat after a loss succeeds: the answer is the only place where the loss shows.
      yield* askUnlessDown(link, (runtime) => runtime.heartbeat());
    } else if (lease?.holder) {
      yield* take(isOurControlOf(link));
    } else {
      const { random } = yield* services();
      // Two windows with one client id find the lease free at the same time; a random pause keeps them apart.
      yield* delay(PAUSE_BEFORE_TAKING_MS * (0.5 + random()));
      yield* askUnlessDown(link, (runtime) => runtime.takeControl());
    }
  }
}

function* maySubmit(link: Link) {
  const known = (yield* state()).connections[link.connection]?.descriptor;
  if (known) return known.actions.submit;
  try {
    // Attached without a snapshot (frontend.v2 §6.4): the descriptor is to be had all the same.
    const descriptor = yield* ask(link, (runtime) => runtime.describe());
    yield* put(described({ connection: link.connection, descriptor }));
    return descriptor.actions.submit;
  } catch {
    return false;
  }
}

/** Waits until a time of the monotonic clock; a time that is past (the machine slept, an answer hung) is at once. */
function* pauseUntil(time: number, longest: number) {
  const { clock } = yield* services();
  yield* delay(Math.min(longest, Math.max(MIN_BEAT_MS, time - clock.monotonic())));
}

/** Keeps a heartbeat that fails at once from becoming a loop. */
const MIN_BEAT_MS = 250;

/** An unreachable runtime is the stream's to notice and repair; the next beat asks again. */
function* askUnlessDown(...[link, question]: Parameters<typeof askForControl>) {
  try {
    yield* askForControl(link, question);
  } catch (error) {
    if (isFinal(error)) throw error;
  }
}

const isOurControlOf = (link: Link) => (action: unknown) =>
  reported.match(action) && action.payload.connection === link.connection && action.payload.mine;
