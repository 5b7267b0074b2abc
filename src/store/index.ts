/**
 * What is known: one immutable, plain-JSON tree, and the facts that change it.
 *
 * Times named `at` or `since` are epoch milliseconds; lengths are UTF-16 units; `sentAt` and `renewedAt` are
 * milliseconds of a monotonic clock. Nothing here throws for what a runtime may send.
 */
export type { RootState } from './state.js';
export { STATE_VERSION } from './state.js';
export { rootReducer } from './root.js';
export { emptyState, replay, type Damage, type Replayed, type ReplayOptions } from './replay.js';
export {
  createRecorder,
  type LogFooter,
  type LogHeader,
  type LogRecord,
  type LogSink,
  type Recorder,
  type RecorderOptions,
} from './recorder.js';
export { canonicalJson } from './canonical.js';
export {
  closeRequested,
  forgotten,
  opened,
  type Connection,
  type ConnectionId,
  type ConnectionPhase,
  type Origin,
} from './connections.js';
export { interruptRequested, submitRequested, type EndedTurn, type Turn, type TurnId, type TurnState } from './turn.js';
export { answerRequested, type AnswerIntent, type RequestState, type RequestStatus } from './requests.js';
export { policyChosen, type Policy } from './permissions.js';
export { steerRequested, type Steer, type SteerId, type SteerIntent } from './steering.js';
export { unavailableReported, type SetupState } from './setup.js';
export { connectionFocused, type FocusState } from './focus.js';
export type { Lease } from './lease.js';
export type { Entry, Outcome, Transcript } from './transcript.js';
