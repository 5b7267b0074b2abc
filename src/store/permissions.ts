import { createSlice, type PayloadAction } from '@reduxjs/toolkit';
import { forgotten, without, type ConnectionId } from './connections.js';

/**
 * Who answers the requests of one conversation: a person, or this client at once. `session` allows for the session
 * where that is offered. A question (elicitation) has no answer that a policy could know: `autoApprove` leaves it to the
 * person, and every other policy but `ask` declines it, because nobody is there.
 */
export type Policy = 'ask' | 'autoApprove' | 'allow' | 'session' | 'deny';

/** Only what was chosen; a conversation without an entry asks. */
export type PermissionsState = Readonly<Record<ConnectionId, Policy>>;

const initialState: PermissionsState = {};

const slice = createSlice({
  name: 'permissions',
  initialState,
  reducers: {
    policyChosen: (state, { payload }: PayloadAction<{ connection: ConnectionId; policy: Policy }>) => ({
      ...state,
      [payload.connection]: payload.policy,
    }),
  },
  extraReducers: (builder) => {
    builder.addCase(forgotten, (state, { payload }) => without(state, payload.connection));
  },
});

export const { policyChosen } = slice.actions;
export const permissionsReducer = slice.reducer;
