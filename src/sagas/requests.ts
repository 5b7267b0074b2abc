import { cancelled, put, takeEvery } from 'typed-redux-saga';
import { messageOf } from '../protocol/messageOf.js';
import { answerAcknowledged, answerFailed, answerRequested, type AnswerIntent } from '../store/requests.js';
import type { RootState } from '../store/state.js';
import { requestGone } from '../store/verdicts.js';
import { withControl } from './control.js';
import { isRefusal, state, type Link } from './context.js';

/** Carries answers to the runtime: of each request one at a time, and none that the reducer did not let through. */
export function* answerRequests(link: Link) {
  yield* takeEvery(
    (action: unknown) => answerRequested.match(action) && action.payload.connection === link.connection,
    answer,
    link,
  );
}

function* answer(link: Link, { payload }: ReturnType<typeof answerRequested>) {
  if (!isUnderWay(yield* state(), payload)) return;
  const { connection } = link;
  const requestId = payload.answer.request_id;
  try {
    yield* withControl(link, (runtime) => runtime.respond(payload.answer));
    yield* put(answerAcknowledged({ connection, requestId }));
  } catch (error) {
    // A fault leaves open whether the answer arrived. If it did, the runtime says so on the stream, and a second
    // answer is refused as not pending; so the request may be answered again without harm.
    yield* put(
      isRefusal(error, 'not_found')
        ? requestGone({ connection, requestId })
        : answerFailed({ connection, requestId, problem: messageOf(error) }),
    );
  } finally {
    const problem = 'The connection was replaced while the answer was on its way.';
    if (yield* cancelled()) yield* put(answerFailed({ connection, requestId, problem }));
  }
}

function isUnderWay(root: RootState, { connection, answer: given }: AnswerIntent): boolean {
  const status = root.requests[connection]?.[given.request_id]?.status;
  return status?.phase === 'answering' && status.answer === given;
}
