import { createSlice, type PayloadAction } from '@reduxjs/toolkit';
import { attached, forgotten, opened, replayRefused, type ConnectionId } from './connections.js';

/** Which conversation a person means where nothing else says so: the one chosen last, or handed over last. */
export interface FocusState {
  readonly connection: ConnectionId | null;
  /** Chosen later than that, and not attached yet; it is passed over by whatever is chosen meanwhile. */
  readonly awaited?: ConnectionId;
}

type Of = PayloadAction<{ readonly connection: ConnectionId }>;

const initialState: FocusState = { connection: null };

const slice = createSlice({
  name: 'focus',
  initialState,
  reducers: {
    connectionFocused: (_, { payload: { connection } }: Of) => ({ connection }),
    /** It is to be in focus as soon as it is attached, and not at all where it never is. */
    connectionAwaited: ({ connection }, { payload }: Of) => ({ connection, awaited: payload.connection }),
  },
  extraReducers: (builder) => {
    builder.addCase(opened, (state, { payload: { connection } }) =>
      state.connection === connection ? state : { connection },
    );
    builder.addCase(forgotten, (state, { payload }) =>
      state.connection === payload.connection ? initialState : state,
    );
    builder.addCase(attached, arrive);
    builder.addCase(replayRefused, arrive);
  },
});

function arrive(state: FocusState, { payload: { connection } }: Of): FocusState {
  return state.awaited === connection ? { connection } : state;
}

export const { connectionFocused, connectionAwaited } = slice.actions;
export const focusReducer = slice.reducer;
