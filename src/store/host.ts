import { createSlice, type PayloadAction } from '@reduxjs/toolkit';
import type { HostSnapshot } from '../protocol/host.js';
import {
  NO_HOST,
  type HostIntent,
  type HostOperation,
  type HostResult,
  type HostState,
  type OperationId,
} from './hostState.js';

const KEPT = 32;

const slice = createSlice({
  name: 'host',
  initialState: NO_HOST,
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
