import type { Descriptor, LeaseSnapshot, Snapshot } from '../protocol/frontend-v2.js';
import type { RuntimeEvent } from '../protocol/frontend-v2-events.js';
import type { ConnectionTarget } from '../protocol/handover.js';
import type { RequestAnswer } from '../protocol/requests.js';

export type { ConnectionTarget, CredentialReference, Permission } from '../protocol/handover.js';

/**
 * The calls of one runtime. Each rejects with a `RuntimeRefusal` (heard and refused), a `TransportFault` (fate unknown)
 * or, before anything is sent, a `CredentialRefused`. Source: frontend.v2 §4.
 */
export interface RuntimeClient {
  readonly clientId: string;
  /** Resolves when the runtime has answered 200: from then on nothing that it publishes is missed. */
  openEvents(): Promise<EventStream>;
  describe(): Promise<Descriptor>;
  attach(): Promise<Snapshot>;
  sendInput(prompt: string, imageUrls?: readonly string[]): Promise<void>;
  /** Whether a turn was running. */
  interrupt(): Promise<boolean>;
  steer(prompt: string): Promise<void>;
  respond(answer: RequestAnswer): Promise<void>;
  lease(): Promise<LeaseSnapshot>;
  /** Fails while another client has control. */
  acquireControl(): Promise<LeaseSnapshot>;
  /** Takes control from whoever has it. */
  takeControl(): Promise<LeaseSnapshot>;
  heartbeat(): Promise<LeaseSnapshot>;
  detach(): Promise<LeaseSnapshot>;
}

/** An open event stream. `chunks` ends when the runtime or the line ends it, and never throws. */
export interface EventStream {
  readonly chunks: AsyncIterable<EventChunk>;
  /** Ends the stream from this side; `chunks` then ends too. */
  close(): void;
}

/** What one read of the socket brought. A chunk with nothing in it is a keep-alive: a sign of life all the same. */
export interface EventChunk {
  readonly events: readonly RuntimeEvent[];
  /** Frames that are no events (broken JSON, no usable sequence). They are counted and said, the rest applies. */
  readonly malformed: number;
}

export interface Clock {
  /** Milliseconds that never jump: not wall time, not comparable between machines. */
  monotonic(): number;
  /** Epoch milliseconds. */
  wall(): number;
}

export interface Services {
  readonly runtime: (target: ConnectionTarget) => RuntimeClient;
  readonly clock: Clock;
  /** A fresh identifier, unique in this process and across reloads. */
  readonly newId: () => string;
  /** At least 0, below 1. */
  readonly random: () => number;
  /** One line for the person's output log. Never given a secret. */
  readonly log: (line: string) => void;
}
