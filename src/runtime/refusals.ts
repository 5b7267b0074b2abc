/** Errors of the RPC door (§3). A refusal raised by the runtime has a name; one raised by the envelope has none. */
export class RuntimeRefusal extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly named?: { readonly name: string; readonly operation?: string; readonly detail?: Record<string, unknown> },
  ) {
    super(message);
    this.name = 'RuntimeRefusal';
  }

  /** The `error` member of an answer. */
  toWire(): Record<string, unknown> {
    if (this.named === undefined) return { code: this.code, message: this.message };
    const { name, operation, detail } = this.named;
    return { code: this.code, name, operation: operation ?? null, message: this.message, ...detail };
  }
}

export const unauthenticated = (): RuntimeRefusal =>
  new RuntimeRefusal(-32030, 'SDK runtime authentication required', { name: 'unauthenticated' });

export const unauthorized = (permission: string): RuntimeRefusal =>
  new RuntimeRefusal(-32031, `SDK runtime permission \`${permission}\` is required`, {
    name: 'unauthorized',
    detail: { permission },
  });

export const controllerRequired = (holder: string, expiresAtMs: number): RuntimeRefusal =>
  new RuntimeRefusal(-32032, 'controller lease required', {
    name: 'controller_required',
    detail: { holder, expiresAtMs },
  });

export const leaseExpired = (): RuntimeRefusal =>
  new RuntimeRefusal(-32033, 'controller lease expired', { name: 'lease_expired' });

export const busy = (): RuntimeRefusal =>
  new RuntimeRefusal(-32000, 'a turn is already in progress', { name: 'busy', operation: 'input' });

export const turnInterrupted = (code: -32001 | -32002 = -32001): RuntimeRefusal =>
  new RuntimeRefusal(code, 'turn interrupted', { name: 'execution', operation: 'input' });

export const turnFailed = (message: string): RuntimeRefusal =>
  new RuntimeRefusal(-32002, message, { name: 'execution', operation: 'input' });

/** The replay buffer no longer reaches back to the history boundary (§6.4). */
export const replayGap = (lost: number): RuntimeRefusal =>
  new RuntimeRefusal(-32010, `SDK event stream lost ${lost} event(s); reattach for a fresh snapshot`, {
    name: 'transport',
  });

export const unsupportedAction = (action: string): RuntimeRefusal =>
  new RuntimeRefusal(-32020, `SDK action \`${action}\` is not supported by this runtime`, {
    name: 'unsupported_action',
    operation: action,
  });

export const unsupportedOperation = (id: string): RuntimeRefusal =>
  new RuntimeRefusal(-32023, `SDK operation \`${id}\` is not supported by this runtime`, {
    name: 'unsupported_action',
  });

export const requestNotPending = (id: number): RuntimeRefusal =>
  new RuntimeRefusal(-32022, `SDK request ${id} is not pending`, { name: 'not_found', operation: 'respond' });

export const wrongResponseKind = (id: number, expected: string, got: string): RuntimeRefusal =>
  new RuntimeRefusal(-32022, `invalid SDK response: request ${id} expects ${expected}, got ${got}`, {
    name: 'invalid_argument',
    operation: 'respond',
  });

export const invalidParams = (message: string): RuntimeRefusal => new RuntimeRefusal(-32602, message);
export const unknownMethod = (method: string): RuntimeRefusal =>
  new RuntimeRefusal(-32601, `unknown method \`${method}\``);
export const parseError = (reason: string): RuntimeRefusal => new RuntimeRefusal(-32700, `parse error: ${reason}`);
