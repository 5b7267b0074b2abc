import { replayGap } from './refusals.js';
import type { ChatMessage, EventPayload, FrontendEvent } from './wire.js';

const HISTORY_LIMIT = 200;
const DEFAULT_HISTORY = 50;
const REPLAY_LIMIT = 4096;

/**
 * The sequenced event log of one session and the history that it has been folded into.
 * Sequences start at 1 in every process, whatever the history says (§6.2).
 */
export class Session {
  #nextSequence = 1;
  #replay: FrontendEvent[] = [];
  #cursor = 0;
  #history: readonly ChatMessage[];
  readonly #listeners = new Set<(event: FrontendEvent) => void>();

  constructor(
    readonly id: string,
    history: readonly ChatMessage[],
  ) {
    this.#history = history;
  }

  get history(): readonly ChatMessage[] {
    return this.#history;
  }

  get hasListeners(): boolean {
    return this.#listeners.size > 0;
  }

  subscribe(listener: (event: FrontendEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  publish(payload: EventPayload): void {
    const event = this.#retain(payload);
    for (const listener of [...this.#listeners]) listener(event);
  }

  /**
   * Moves the history boundary to the end of the turn. Requests and their answers are no part of a chat history, so
   * they are numbered again behind the boundary, in the replay only: the live stream skips those numbers (§6.2).
   */
  endTurn(history: readonly ChatMessage[]): void {
    this.#history = history.slice(-HISTORY_LIMIT);
    this.#cursor = this.#nextSequence - 1;
    const retained = requestsOf(this.#replay);
    this.#replay = [];
    for (const payload of retained) this.#retain(payload);
  }

  snapshot(limit: unknown): { history: readonly ChatMessage[]; history_cursor: number; replay: FrontendEvent[] } {
    const replay = this.#replay.filter((event) => event.sequence > this.#cursor);
    const first = replay[0];
    if (first !== undefined && first.sequence > this.#cursor + 1) throw replayGap(first.sequence - this.#cursor - 1);
    return { history: this.#history.slice(-clampLimit(limit)), history_cursor: this.#cursor, replay };
  }

  #retain(payload: EventPayload): FrontendEvent {
    const event = { sequence: this.#nextSequence, kind: payload.type, payload };
    this.#nextSequence += 1;
    this.#replay.push(event);
    if (this.#replay.length > REPLAY_LIMIT) this.#replay.shift();
    return event;
  }
}

/** Absent, negative or not an integer means the default; anything else is clamped (§4, `attach`). */
export const clampLimit = (limit: unknown): number => {
  const asked = typeof limit === 'number' && Number.isInteger(limit) && limit >= 0 ? limit : DEFAULT_HISTORY;
  return Math.min(Math.max(asked, 1), HISTORY_LIMIT);
};

/** Every request once, each followed by its answer, in the order of their ids. */
const requestsOf = (events: readonly FrontendEvent[]): EventPayload[] => {
  const byId = new Map<number, { request?: EventPayload; resolved?: EventPayload }>();
  for (const { kind, payload } of events) {
    const id =
      kind === 'request' ? requestId(payload) : kind === 'request_resolved' ? payload['request_id'] : undefined;
    if (typeof id !== 'number') continue;
    const entry = byId.get(id) ?? {};
    if (kind === 'request') entry.request ??= payload;
    else entry.resolved ??= payload;
    byId.set(id, entry);
  }
  return [...byId]
    .sort(([a], [b]) => a - b)
    .flatMap(([, { request, resolved }]) => [request, resolved].filter((payload) => payload !== undefined));
};

const requestId = (payload: EventPayload): unknown => {
  const request = payload['request'];
  return typeof request === 'object' && request !== null && 'id' in request ? request.id : undefined;
};
