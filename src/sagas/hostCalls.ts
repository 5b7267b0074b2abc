import type { Channel } from 'redux-saga';
import { call, flush, put, take } from 'typed-redux-saga';
import { HostGone } from '../protocol/hostRefusal.js';
import { messageOf } from '../protocol/messageOf.js';
import { CredentialRefused } from '../protocol/refusal.js';
import { isSeen } from '../selectors/host.js';
import { answered, gone, setupEnded } from '../store/host.js';
import { sharing } from '../store/sharing.js';
import { services, state } from './context.js';
import { followConnection } from './hostConnection.js';
import type { Answer, HostLink, Mutation, Outcome } from './hostLink.js';

/** How things stand from now on: a reading that is under way would be of before. */
export function* readState({ reads }: HostLink) {
  return yield* call(
    () =>
      new Promise<Outcome>((resolve) => {
        reads.put(resolve);
      }),
  );
}

/** Resolves when no reading is under way. */
export async function readingOver(link: HostLink): Promise<void> {
  await link.current;
}

/** One `/state` at a time; whoever asks meanwhile shares the next. */
export function* readStates(link: HostLink) {
  const { clock } = yield* services();
  while (true) {
    const first = yield* take(link.reads);
    const others = yield* flush(link.reads);
    let over: () => void = () => undefined;
    link.current = new Promise((resolve) => (over = resolve));
    const outcome = yield* call(readOnce, link);
    link.readAt = clock.monotonic();
    link.current = undefined;
    over();
    for (const tell of [first, ...others]) tell(outcome);
  }
}

function* readOnce(link: HostLink) {
  while (true) {
    const before = link.mutated;
    try {
      const snapshot = yield* call(() => link.client.state());
      if (link.mutated === before) return yield* call(publish, link, { snapshot }, false);
      // It is of before a mutation that has answered since, and which told more itself where it could.
      if (link.isNews) return { ok: true, answer: {} } as const;
    } catch (error) {
      return yield* call(failure, link, error);
    }
  }
}

/** What is to be done, one after the other; one that fails is no reason for the next to fail. */
export function* mutate(link: HostLink, queue: Channel<Mutation>) {
  while (true) {
    const { run, isStart, rereads, tell } = yield* take(queue);
    const { phase } = (yield* state()).host;
    if (phase.name === 'gone') {
      tell({ ok: false, message: phase.message });
      continue;
    }
    // A reading may be what starts the runtime; another start beside it would be one too many.
    if (isStart && !(yield* state()).host.snapshot?.connection) yield* call(readingOver, link);
    try {
      const answer = yield* call(() => run(link.client));
      if (answer.snapshot) {
        link.mutated += 1;
        link.isNews = true;
      }
      tell(yield* call(publish, link, answer, true));
    } catch (error) {
      link.mutated += 1;
      link.isNews = false;
      const outcome = yield* call(failure, link, error);
      if (rereads && (yield* state()).host.phase.name !== 'gone') yield* call(readState, link);
      tell(outcome);
    }
  }
}

/** Writes down what is new of an answer, and nothing where nothing is. */
function* publish(link: HostLink, answer: Answer, isAsked: boolean) {
  link.said = '';
  const { host } = yield* state();
  if (answer.snapshot) {
    const snapshot = sharing(host.snapshot, answer.snapshot);
    if (snapshot !== host.snapshot || host.phase.name !== 'joined') yield* put(answered({ snapshot }));
    yield* call(followConnection, snapshot, answer.history, isAsked);
    if (host.outstanding && isSeen(snapshot, host.outstanding)) yield* put(setupEnded());
  }
  return { ok: true, answer } as const;
}

/** A failure is no news. That the host is gone is said once, and it is asked no more by itself. */
function* failure(link: HostLink, error: unknown) {
  const message = messageOf(error);
  const { log } = yield* services();
  if (message !== link.said) log(`The host: ${message}`);
  link.said = message;
  const isGone = error instanceof HostGone || error instanceof CredentialRefused;
  if (isGone && (yield* state()).host.phase.name !== 'gone') yield* put(gone({ message }));
  return { ok: false, message } as const;
}
