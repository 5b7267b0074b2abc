import { createSlice, type PayloadAction } from '@reduxjs/toolkit';

/** What stands between a person and a first conversation. */
export interface SetupState {
  /** Why a product could start no runtime, in its words; null where nobody said so. */
  readonly unavailable: string | null;
}

const initialState: SetupState = { unavailable: null };

const slice = createSlice({
  name: 'setup',
  initialState,
  reducers: {
    unavailableReported: (state, { payload }: PayloadAction<{ reason: string }>) => ({
      ...state,
      unavailable: payload.reason,
    }),
  },
});

export const { unavailableReported } = slice.actions;
export const setupReducer = slice.reducer;
