import type { Task } from 'redux-saga';
import { cancel, delay, fork, put, take } from 'typed-redux-saga';
import { messageOf } from '../protocol/messageOf.js';
import { isHosted } from '../protocol/frontend-v2.js';
import { TERMINAL_KINDS, type RuntimeEvent } from '../protocol/frontend-v2-events.js';
import { isFinal, TransportFault } from '../protocol/refusal.js';
import { expectedSkip, isAtGap, selectCursor } from '../selectors/connections.js';
import type { EventStream } from '../services/services.js';
import { attached, malformedSeen, replayRefused, type LossReason } from '../store/connections.js';
import { eventMeta, eventReceived } from '../store/events.js';
import type { RootState } from '../store/state.js';
import { ask, directStore, isRefusal, now, services, state, timings, type DirectStore, type Link } from './context.js';
import { holdControl } from './lease.js';
import { supervised } from './supervise.js';

/** A few milliseconds of work. */
const EVENTS_AT_ONCE = 2_000;

/** How a stream that was followed came to its end. `alive`: it brought something, so the trouble is a new one. */
export interface StreamEnd {
  readonly reason: LossReason;
  readonly alive: boolean;
  /** Why the snapshot could not be had, where that was it; null where the stream itself ended. */
  readonly fault: TransportFault | null;
}

/**
 * Follows one open stream: snapshot first, then every event, until it ends or falls silent. A final refusal is thrown.
 *
 * Every event is one action, so that every event can be stepped through; the saga itself advances once per chunk,
 * because an effect per delta would cost several times the dispatch.
 */
export function* followStream(link: Link, stream: EventStream, number: number) {
  const { clock } = yield* services();
  const store = yield* directStore();
  const life = { at: clock.monotonic() };
  void pump(link, stream, number);
  const watchdog: Task = yield* fork(watchLife, link, number, life);
  let alive = false;
  let since = 0;
  let control: Task | undefined;
  const over = (reason: LossReason, fault: TransportFault | null = null): StreamEnd => ({ reason, alive, fault });
  try {
    const fault = yield* takeSnapshot(link);
    if (fault) return over('ended', fault);
    control = yield* fork(supervised, `${link.connection} lease`, holdControl, link);
    while (true) {
      const arrival = yield* take(link.inbox);
      if (arrival.kind === 'resync') {
        const failed = yield* takeAnother(link);
        if (failed) return over('ended', failed);
        continue;
      }
      if (arrival.kind === 'refused') throw arrival.error;
      // What an earlier stream still had to say does not concern this one.
      if (arrival.stream !== number) continue;
      if (arrival.kind !== 'chunk') return over(arrival.kind);
      alive = true;
      life.at = clock.monotonic();
      const { events, malformed } = arrival.chunk;
      if (malformed > 0) yield* put(malformedSeen({ connection: link.connection, count: malformed }));
      if (events.length === 0) continue;
      // What gathered while a snapshot was taken must not keep the event loop from everything else.
      since += events.length;
      if (since > EVENTS_AT_ONCE) {
        since = 0;
        yield* delay(0);
      }
      link.lastEventAt = life.at;
      const failed = yield* deliver(link, events, store, clock.wall());
      if (failed) return over('ended', failed);
    }
  } finally {
    yield* cancel(watchdog);
    if (control) yield* cancel(control);
  }
}

/** Dispatches a chunk in one plain loop, up to the end or to an event in front of which something is missing. */
function* deliver(link: Link, events: readonly RuntimeEvent[], store: DirectStore, at: number) {
  const meta = eventMeta(link.connection, at);
  let root = store.getState();
  const hosted = isHosted(root.connections[link.connection]?.descriptor);
  let cursor = selectCursor(root, link.connection);
  let ended = false;
  for (const event of events) {
    if (event.sequence > cursor + 1) {
      root = store.getState();
      const explained = hosted ? 0 : expectedSkip(root, link.connection, event);
      if (event.sequence !== cursor + 1 + explained && !isAtGap(root, link.connection)) {
        const fault = yield* takeAnother(link);
        if (fault) return fault;
      }
    }
    store.dispatch(eventReceived(event, meta));
    cursor = Math.max(cursor, event.sequence);
    ended ||= isTerminal(event);
  }
  // A native runtime's replay reaches back again once the turn that outgrew it is over (§6.4).
  if (ended && !hosted && isAtGap(store.getState(), link.connection)) return yield* takeAnother(link);
  return null;
}

/**
 * Takes a snapshot beside a stream that went on after an earlier one. If it comes from another process of the runtime,
 * the stream is of the one that is gone: what it still brings is of the past.
 */
function* takeAnother(link: Link) {
  const epoch = (root: RootState) => root.transcript[link.connection]?.epoch;
  const before = epoch(yield* state());
  const fault = yield* takeSnapshot(link);
  if (fault || epoch(yield* state()) === before) return fault;
  return new TransportFault('network', 'The runtime was restarted.');
}

/**
 * Takes a snapshot on the open stream and joins it to what is known; null when that is done. What the stream brings
 * meanwhile waits in the inbox and is told from what the snapshot holds by its sequence.
 */
function* takeSnapshot(link: Link) {
  const { connection } = link;
  try {
    const snapshot = yield* ask(link, (runtime) => runtime.attach());
    yield* put(attached({ connection, snapshot, at: yield* now() }));
    return null;
  } catch (error) {
    if (isRefusal(error, 'transport')) {
      yield* put(replayRefused({ connection, message: error.message, at: yield* now() }));
      return null;
    }
    if (isFinal(error)) throw error;
    return error instanceof TransportFault ? error : new TransportFault('protocol', messageOf(error));
  }
}

async function pump({ inbox }: Link, stream: EventStream, number: number): Promise<void> {
  for await (const chunk of stream.chunks) inbox.put({ kind: 'chunk', chunk, stream: number });
  inbox.put({ kind: 'ended', stream: number });
}

function* watchLife({ inbox }: Link, number: number, life: { readonly at: number }) {
  const { clock } = yield* services();
  const { silence } = yield* timings();
  while (true) {
    const rest = life.at + silence - clock.monotonic();
    if (rest <= 0) break;
    yield* delay(rest);
  }
  yield* put(inbox, { kind: 'silent', stream: number });
}

const TERMINAL: ReadonlySet<string> = new Set(TERMINAL_KINDS);

function isTerminal({ kind }: RuntimeEvent): boolean {
  return TERMINAL.has(kind);
}
