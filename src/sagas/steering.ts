import { call, cancelled, put, takeEvery } from 'typed-redux-saga';
import { messageOf } from '../protocol/messageOf.js';
import { TransportFault } from '../protocol/refusal.js';
import { steerQueued, steerRefused, steerRequested } from '../store/steering.js';
import { withControl } from './control.js';
import { isRefusal, type Link } from './context.js';

/** Takes what a person says during a turn to the runtime, in the order in which it was said. */
export function* steerTurns(link: Link) {
  yield* takeEvery(
    (action: unknown) => steerRequested.match(action) && action.payload.connection === link.connection,
    function* ({ payload }: ReturnType<typeof steerRequested>) {
      yield* call(steer, link, payload);
    },
  );
}

function* steer(link: Link, { connection, steerId, prompt }: ReturnType<typeof steerRequested>['payload']) {
  try {
    yield* withControl(link, (runtime) => runtime.steer(prompt));
    yield* put(steerQueued({ connection, steerId }));
  } catch (error) {
    const uncertain = error instanceof TransportFault ? ` ${UNCERTAIN}` : '';
    yield* put(
      steerRefused({
        connection,
        steerId,
        // What a runtime says of a turn that is over already (frontend.v2 §3).
        over: isRefusal(error, 'unsupported_action'),
        message: `${messageOf(error)}${uncertain}`,
      }),
    );
  } finally {
    const message = `The connection was replaced while the message was on its way. ${UNCERTAIN}`;
    if (yield* cancelled()) yield* put(steerRefused({ connection, steerId, over: false, message }));
  }
}

const UNCERTAIN = 'Whether the runtime has the message is not known.';
