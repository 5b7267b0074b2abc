import { createSlice, type PayloadAction } from '@reduxjs/toolkit';
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

const KEPT = 32;

const initialState: HostState = {
  phase: { name: 'absent' },
  snapshot: null,
  watched: false,
  outstanding: null,
  operations: {},
};

const slice = createSlice({
  name: 'host',
  initialState,
  reducers: {
    joined: (state) => ({ ...state, phase: { name: 'joined' } as const }),
    /** The host said something new. */
    answered: (state, { payload }: PayloadAction<{ snapshot: HostSnapshot }>) => ({
      ...state,
      phase: { name: 'joined' } as const,
      snapshot: payload.snapshot,
    }),
    gone: (state, { payload }: PayloadAction<{ message: string }>) => ({
      ...state,
      phase: { name: 'gone', ...payload } as const,
    }),
    watchedChanged: (state, { payload }: PayloadAction<{ watched: boolean }>) => ({ ...state, ...payload }),
    /** An intent of a name that is known asks for nothing more. */
    requested: (state, { payload }: PayloadAction<HostIntent>) =>
      state.operations[payload.operation]
        ? state
        : withOperation(state, payload.operation, { phase: 'asked', intent: payload }),
    succeeded: (state, { payload }: PayloadAction<{ operation: OperationId; result: HostResult }>) => {
      const { operation, result } = payload;
      const { step } = result.kind === 'setup' ? result : {};
      return {
        ...withOperation(state, operation, { phase: 'done', result }),
        outstanding: step ? { step: step.kind, harness: step.harness } : state.outstanding,
      };
    },
    failed: (state, { payload }: PayloadAction<{ operation: OperationId; message: string }>) =>
      withOperation(state, payload.operation, { phase: 'failed', message: payload.message }),
    /** The effect of the step was seen, or nobody waits for it any more. */
    setupEnded: (state) => ({ ...state, outstanding: null }),
  },
});

export const { joined, answered, gone, watchedChanged, requested, succeeded, failed, setupEnded } = slice.actions;
export const hostReducer = slice.reducer;

function withOperation(state: HostState, id: OperationId, operation: HostOperation): HostState {
  const others = Object.entries(state.operations).filter(([other]) => other !== id);
  const spare = others.length - KEPT;
  const kept = others.filter(([, { phase }], at) => at > spare || phase === 'asked');
  return { ...state, operations: { ...Object.fromEntries(kept), [id]: operation } };
}
