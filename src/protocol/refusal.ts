/** The runtime's own names for a refusal, plus ours for a code that came without one. Source: frontend.v2 §3. */
export const REFUSALS = [
  'unauthenticated',
  'unauthorized',
  'controller_required',
  'lease_expired',
  'busy',
  'execution',
  'transport',
  'unsupported_action',
  'not_found',
  'invalid_argument',
  'invalid_request',
  'unknown',
] as const;

export type RefusalReason = (typeof REFUSALS)[number];

/** A refusal as plain data, fit for an action: everything that a person or a saga needs to know of it. */
export interface Refusal {
  readonly reason: RefusalReason;
  readonly message: string;
  /** Which permission is missing, or `client_id`, `authorization`, `bootstrap` for a refused header or door. */
  readonly permission?: string;
  /** Who holds control, where the runtime says so. */
  readonly holder?: string;
}

/** The runtime heard the call and said no. The call had no effect. */
export class RuntimeRefusal extends Error {
  override readonly name = 'RuntimeRefusal';
  readonly reason: RefusalReason;

  constructor(readonly refusal: Refusal) {
    super(refusal.message);
    this.reason = refusal.reason;
  }
}

export type FaultKind = 'network' | 'timeout' | 'http' | 'protocol';

/**
 * The call's fate is unknown: the line broke, nothing answered in time, or the answer was no answer. A mutation that
 * ends so may have had its effect, so it is never sent again by itself.
 */
export class TransportFault extends Error {
  override readonly name = 'TransportFault';

  constructor(
    readonly kind: FaultKind,
    message: string,
    /** What an HTTP 429 or 503 asked us to wait, in ms. */
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }
}

/** The credential could not be read, or may not be used for this address. Trying again does not help. */
export class CredentialRefused extends Error {
  override readonly name = 'CredentialRefused';
}

/** Whether a refusal ends the attachment until somebody hands over a new credential. */
export function isFinal(error: unknown): boolean {
  return (
    error instanceof CredentialRefused ||
    (error instanceof RuntimeRefusal && (error.reason === 'unauthenticated' || error.reason === 'unauthorized'))
  );
}
