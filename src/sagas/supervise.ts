import type { Saga } from 'redux-saga';
import { call, delay, put } from 'typed-redux-saga';
import { messageOf } from '../protocol/messageOf.js';
import { sagaCrashed } from '../store/verdicts.js';
import { services } from './context.js';

const RESTARTS = 5;
const FIRST_PAUSE_MS = 500;

/**
 * Runs a saga and starts it anew when it dies of an error, at most RESTARTS times, with growing pauses. One part that
 * crashes is said and logged; the others never notice.
 */
export function* supervised<A extends unknown[]>(name: string, saga: Saga<A>, ...args: A) {
  for (let crashes = 0; ; crashes++) {
    try {
      yield* call(saga, ...args);
      return;
    } catch (error) {
      const { log } = yield* services();
      log(`${name} crashed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
      yield* put(sagaCrashed({ name, message: messageOf(error) }));
      if (crashes === RESTARTS) return;
      yield* delay(FIRST_PAUSE_MS * 2 ** crashes);
    }
  }
}
