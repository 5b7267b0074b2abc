import { invalidParams, requestNotPending, wrongResponseKind } from './refusals.js';
import type { Session } from './session.js';
import { isObject, type Json, type JsonObject } from './wire.js';

export type Decision = 'deny' | 'allow' | 'allow_for_session';
export type Action = 'accept' | 'decline' | 'cancel';
export type Response =
  | { readonly kind: 'approval'; readonly request_id: number; readonly decision: Decision }
  | {
      readonly kind: 'elicitation' | 'other';
      readonly request_id: number;
      readonly action: Action;
      readonly content: Json;
    };

const WITHDRAW_CHECK_MS = 100;

interface Pending {
  readonly kind: Response['kind'];
  readonly settle: (response: Response | undefined) => void;
}

/** Questions that a running tool puts to a person (§8). Each takes one answer. */
export class RequestBroker {
  #nextId = 1;
  readonly #pending = new Map<number, Pending>();
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * Resolves with the answer, or with undefined when nobody can give one: no stream is open now, or the last one
   * closes while this is pending. A withdrawal is silent, it publishes no `request_resolved` (§8.2).
   */
  ask(kind: 'approval' | 'elicitation', payload: JsonObject): Promise<Response | undefined> {
    if (!this.#session.hasListeners) return Promise.resolve(undefined);
    const id = this.#nextId;
    this.#nextId += 1;
    return new Promise((resolve) => {
      const watch = setInterval(() => {
        if (!this.#session.hasListeners) settle(undefined);
      }, WITHDRAW_CHECK_MS);
      const settle = (response: Response | undefined): void => {
        clearInterval(watch);
        this.#pending.delete(id);
        resolve(response);
      };
      this.#pending.set(id, { kind, settle });
      this.#session.publish({ type: 'request', request: { id, kind, payload } });
    });
  }

  respond(response: Response): void {
    const id = response.request_id;
    const pending = this.#pending.get(id);
    if (pending === undefined) throw requestNotPending(id);
    if (pending.kind !== response.kind) throw wrongResponseKind(id, capital(pending.kind), capital(response.kind));
    this.#pending.delete(id);
    this.#session.publish({ type: 'request_resolved', request_id: id, response: { ...response } });
    pending.settle(response);
  }

  withdrawAll(): void {
    for (const { settle } of [...this.#pending.values()]) settle(undefined);
  }
}

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

const DECISIONS: readonly unknown[] = ['deny', 'allow', 'allow_for_session'] satisfies Decision[];
const ACTIONS: readonly unknown[] = ['accept', 'decline', 'cancel'] satisfies Action[];

export const parseResponse = (value: unknown): Response => {
  if (value === undefined) throw invalidParams('respond requires `params.response`');
  if (isObject(value) && Number.isSafeInteger(value['request_id']) && Number(value['request_id']) >= 0) {
    const request_id = Number(value['request_id']);
    if (value['kind'] === 'approval' && DECISIONS.includes(value['decision'])) {
      return { kind: 'approval', request_id, decision: value['decision'] as Decision };
    }
    if ((value['kind'] === 'elicitation' || value['kind'] === 'other') && ACTIONS.includes(value['action'])) {
      const content = (value['content'] ?? null) as Json;
      return { kind: value['kind'], request_id, action: value['action'] as Action, content };
    }
  }
  throw invalidParams('invalid response');
};
