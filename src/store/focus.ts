import { createSlice, type PayloadAction } from '@reduxjs/toolkit';
import { forgotten, opened, type ConnectionId } from './connections.js';

/** Which conversation a person means where nothing else says so: the one chosen last, or handed over last. */
export interface FocusState {
  readonly connection: ConnectionId | null;
}

const initialState: FocusState = { connection: null };

const slice = createSlice({
  name: 'focus',
  initialState,
  reducers: {
    connectionFocused: (_, { payload }: PayloadAction<{ connection: ConnectionId }>) => payload,
  },
  extraReducers: (builder) => {
    builder.addCase(opened, (state, { payload: { connection } }) =>
      state.connection === connection ? state : { connection },
    );
    builder.addCase(forgotten, (state, { payload }) =>
      state.connection === payload.connection ? initialState : state,
    );
  },
});

export const { connectionFocused } = slice.actions;
export const focusReducer = slice.reducer;
