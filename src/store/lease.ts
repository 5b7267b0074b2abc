import { createSlice, type PayloadAction } from '@reduxjs/toolkit';
import { forgotten, without, type ConnectionId } from './connections.js';

/** Who controls one runtime, as far as this client knows. */
export type Lease =
  | { readonly phase: 'observing'; readonly holder: string | null }
  | { readonly phase: 'controlling'; readonly ttlMs: number; readonly renewedAt: number }
  | { readonly phase: 'lost'; readonly holder: string | null };

export type LeaseState = Readonly<Record<ConnectionId, Lease>>;

/**
 * What the runtime said about control. `sentAt` (ms, monotonic) is when we asked: the runtime cannot have
 * counted from earlier, so our idea of the expiry is never later than its own.
 */
export interface LeaseReport {
  readonly connection: ConnectionId;
  readonly holder: string | null;
  readonly mine: boolean;
  readonly ttlMs: number;
  readonly sentAt: number;
}

const initialState: LeaseState = {};

const slice = createSlice({
  name: 'lease',
  initialState,
  reducers: {
    reported: (state, { payload }: PayloadAction<LeaseReport>) => ({
      ...state,
      [payload.connection]: afterReport(state[payload.connection], payload),
    }),
  },
  extraReducers: (builder) => {
    builder.addCase(forgotten, (state, { payload }) => without(state, payload.connection));
  },
});

export const { reported } = slice.actions;
export const leaseReducer = slice.reducer;

function afterReport(before: Lease | undefined, { mine, holder, ttlMs, sentAt }: LeaseReport): Lease {
  if (mine) return { phase: 'controlling', ttlMs, renewedAt: sentAt };
  // Only someone who had control can lose it; an observer just sees who has it.
  const had = before?.phase === 'controlling' || before?.phase === 'lost';
  return { phase: had ? 'lost' : 'observing', holder };
}
