import { Session } from '../../src/runtime/session.js';
import type { EventPayload } from '../../src/runtime/wire.js';

/**
 * Calls back for whatever the embedded runtimes of this process publish. A client that listens would not do: a runtime
 * denies what it asks when nobody listens.
 */
export function onPublished(told: (session: Session, payload: EventPayload) => void): void {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with its session below
  const publish = Session.prototype.publish;
  Session.prototype.publish = function (this: Session, payload) {
    told(this, payload);
    publish.call(this, payload);
  };
}
