import { buffers, channel } from 'redux-saga';
import { call, delay, fork, put, race, takeEvery } from 'typed-redux-saga';
import { selectPause } from '../selectors/host.js';
import type { HostClient } from '../services/host.js';
import { gaveUp, refused } from '../store/connections.js';
import { failed, joined, requested } from '../store/host.js';
import { services, state, until } from './context.js';
import { mutate, readingOver, readState, readStates } from './hostCalls.js';
import type { HostLink, Mutation, Outcome } from './hostLink.js';
import { serve } from './hostRequests.js';
import { saveIdentities } from './identity.js';

/** The saga of the one host that started this editor. */
export function hostSaga(client: HostClient) {
  return function* runHost() {
    const link: HostLink = {
      client,
      reads: channel(buffers.expanding<(outcome: Outcome) => void>()),
      mutations: channel(buffers.expanding<Mutation>()),
      steps: channel(buffers.expanding<Mutation>()),
      taken: new WeakSet(),
      current: undefined,
      readAt: 0,
      mutated: 0,
      isNews: false,
      said: '',
    };
    yield* call(failInterrupted);
    yield* fork(readStates, link);
    yield* fork(mutate, link, link.mutations);
    yield* fork(mutate, link, link.steps);
    yield* takeEvery(requested, serve, link);
    yield* takeEvery([refused, gaveUp], readAfterLoss, link);
    yield* fork(saveIdentities, link);
    yield* put(joined());
    yield* fork(readState, link);
    yield* call(poll, link);
  };
}

/** What a saga that died had in hand has come to an end that nobody knows. */
function* failInterrupted() {
  for (const [operation, { phase }] of Object.entries((yield* state()).host.operations)) {
    if (phase === 'asked')
      yield* put(failed({ operation, message: 'This was interrupted. Look how things stand, and repeat it.' }));
  }
}

/** What was handed over is worth nothing any more: perhaps something else is by now. */
function* readAfterLoss(link: HostLink, { payload }: ReturnType<typeof refused | typeof gaveUp>) {
  const { connections, host } = yield* state();
  if (connections[payload.connection]?.origin === 'host' && host.phase.name === 'joined') yield* call(readState, link);
}

/** Asks again by itself while something is to be waited for and somebody looks. */
function* poll(link: HostLink) {
  const { clock } = yield* services();
  while (true) {
    yield* until((root) => selectPause(root) !== undefined);
    if (link.current) yield* call(readingOver, link);
    const pause = selectPause(yield* state());
    if (pause === undefined) continue;
    const rest = Math.max(0, link.readAt + pause - clock.monotonic());
    const { passed } = yield* race({ passed: delay(rest), changed: until((root) => selectPause(root) !== pause) });
    if (passed && link.current === undefined) yield* call(readState, link);
  }
}
