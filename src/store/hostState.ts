import type { HostSnapshot, Selection, SetupKind, SetupStep } from '../protocol/host.js';

export type OperationId = string;

/** What somebody wants of the host. */
export type HostRequest =
  | { readonly kind: 'refresh' }
  | { readonly kind: 'select'; readonly selection: Selection }
  | { readonly kind: 'open'; readonly id: string }
  | { readonly kind: 'remember'; readonly id: string; readonly nativeId: string }
  | { readonly kind: 'setup'; readonly step: SetupKind; readonly harness: string };

export interface HostIntent {
  readonly operation: OperationId;
  readonly request: HostRequest;
}

/** What came of it: the conversation that is active now, or the command of a setup step. */
export type HostResult =
  | { readonly kind: 'refresh' | 'select' | 'remember' | 'open'; readonly activeSession: string | null }
  | { readonly kind: 'setup'; readonly step: SetupStep };

export type HostOperation =
  | { readonly phase: 'asked'; readonly intent: HostIntent }
  | { readonly phase: 'done'; readonly result: HostResult }
  /** In the host's words or ours, for people. */
  | { readonly phase: 'failed'; readonly message: string };

/** The lifecycle host that started this editor. */
export interface HostState {
  readonly phase:
    | { readonly name: 'absent' | 'joined' }
    | /** It is asked no more. */ { readonly name: 'gone'; readonly message: string };
  /** The last answer that was news; null before the first. A failed reading is no news and leaves it as it is. */
  readonly snapshot: HostSnapshot | null;
  /** Whether somebody looks at what it says, so that it is worth asking again. */
  readonly watched: boolean;
  /** The step of the setup whose effect is not seen yet. */
  readonly outstanding: { readonly step: SetupKind; readonly harness: string } | null;
  /** The newest KEPT; the oldest that are over are dropped. */
  readonly operations: Readonly<Record<OperationId, HostOperation>>;
}

/** In front of the first word of a host, and where there is none. */
export const NO_HOST: HostState = {
  phase: { name: 'absent' },
  snapshot: null,
  watched: false,
  outstanding: null,
  operations: {},
};
