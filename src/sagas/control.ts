import { put } from 'typed-redux-saga';
import type { LeaseSnapshot } from '../protocol/frontend-v2.js';
import type { RuntimeClient } from '../services/services.js';
import { reported } from '../store/lease.js';
import { ask, isRefusal, services, type Link } from './context.js';

/** The mutation was not sent: what it belongs to was stopped first. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
}

/**
 * Runs a mutation that needs control. Want of control is not an error to show: control is taken and the
 * mutation runs once more; a second refusal is thrown. Stopped before it or in between, nothing is sent (again).
 */
export function* withControl<T>(
  link: Link,
  mutate: (runtime: RuntimeClient) => Promise<T>,
  goOn: () => Generator<unknown, boolean> = always,
) {
  if (!(yield* goOn())) throw new Stopped();
  try {
    return yield* ask(link, mutate);
  } catch (error) {
    if (!isRefusal(error, 'controller_required', 'lease_expired')) throw error;
  }
  if (!(yield* goOn())) throw new Stopped();
  yield* askForControl(link, (runtime) => runtime.takeControl());
  if (!(yield* goOn())) throw new Stopped();
  return yield* ask(link, mutate);
}

/** Asks about control and writes down the answer, dated from when it was asked. */
export function* askForControl(link: Link, question: (runtime: RuntimeClient) => Promise<LeaseSnapshot>) {
  const { clock } = yield* services();
  const sentAt = clock.monotonic();
  const { controller, ttlMs } = yield* ask(link, question);
  const holder = controller?.clientId ?? null;
  const mine = holder === link.runtime.clientId;
  yield* put(reported({ connection: link.connection, holder, mine, ttlMs, sentAt }));
}

function* always(): Generator<never, boolean> {
  return true;
}
