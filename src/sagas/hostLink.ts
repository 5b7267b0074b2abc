import type { Channel } from 'redux-saga';
import type { HistoryMessage } from '../protocol/frontend-v2.js';
import type { HostSnapshot, SetupStep } from '../protocol/host.js';
import type { HostClient } from '../services/host.js';
import type { HostIntent } from '../store/hostState.js';

/** What the sagas of the host share. */
export interface HostLink {
  readonly client: HostClient;
  /** Who asks for a reading that begins from now on. */
  readonly reads: Channel<(outcome: Outcome) => void>;
  /** Done one after the other: the host refuses what overlaps. */
  readonly mutations: Channel<Mutation>;
  readonly steps: Channel<Mutation>;
  readonly taken: WeakSet<HostIntent>;
  /** Resolves when no reading is under way. */
  current: Promise<void> | undefined;
  /** When the last one was over (ms, monotonic). */
  readAt: number;
  /** How many mutations have answered, and whether the last answer said how things stand since. */
  mutated: number;
  isNews: boolean;
  /** What the log was last told of a failure. */
  said: string;
}

export interface Mutation {
  readonly run: (client: HostClient) => Promise<Answer>;
  /** Whether it starts a runtime. */
  readonly isStart: boolean;
  /** Whether a refusal may have changed something all the same, so that the host is asked how things stand. */
  readonly rereads: boolean;
  readonly tell: (outcome: Outcome) => void;
}

export interface Answer {
  readonly snapshot?: HostSnapshot;
  readonly history?: readonly HistoryMessage[];
  readonly step?: SetupStep;
}

export type Outcome = { readonly ok: true; readonly answer: Answer } | { readonly ok: false; readonly message: string };
