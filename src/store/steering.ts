import { createSlice, type PayloadAction } from '@reduxjs/toolkit';
import { forgotten, without, type ConnectionId } from './connections.js';

/** What became of one prompt that was sent into a running turn. */
export type Steer =
  | { readonly phase: 'sending' }
  /** The runtime has it and takes it in at its next step. */
  | { readonly phase: 'queued' }
  /** `over`: nothing runs any more, so the prompt may be sent as a turn of its own. */
  | { readonly phase: 'refused'; readonly over: boolean; readonly message: string };

export type SteerId = string;

/** The prompts of one conversation, by their own ids; the oldest are dropped. */
export type SteeringState = Readonly<Record<ConnectionId, Readonly<Record<SteerId, Steer>>>>;

export interface SteerIntent {
  readonly connection: ConnectionId;
  readonly steerId: SteerId;
  readonly prompt: string;
}

type Of<T = object> = PayloadAction<T & { readonly connection: ConnectionId; readonly steerId: SteerId }>;

const KEPT = 32;

const initialState: SteeringState = {};

const slice = createSlice({
  name: 'steering',
  initialState,
  reducers: {
    /** A person says something to the turn that runs. */
    steerRequested: (state, { payload }: PayloadAction<SteerIntent>) => withSteer(state, payload, { phase: 'sending' }),
    steerQueued: (state, { payload }: Of) => withSteer(state, payload, { phase: 'queued' }),
    steerRefused: (state, { payload: { over, message, ...of } }: Of<{ over: boolean; message: string }>) =>
      withSteer(state, of, { phase: 'refused', over, message }),
  },
  extraReducers: (builder) => {
    builder.addCase(forgotten, (state, { payload }) => without(state, payload.connection));
  },
});

export const { steerRequested, steerQueued, steerRefused } = slice.actions;
export const steeringReducer = slice.reducer;

function withSteer(
  state: SteeringState,
  { connection, steerId }: { readonly connection: ConnectionId; readonly steerId: SteerId },
  steer: Steer,
): SteeringState {
  const others = Object.entries(state[connection] ?? {}).filter(([id]) => id !== steerId);
  const kept = Object.fromEntries([...others.slice(1 - KEPT), [steerId, steer]]);
  return { ...state, [connection]: kept };
}
