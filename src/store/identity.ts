import { createSlice, type PayloadAction } from '@reduxjs/toolkit';
import { forgotten, opened, without, type ConnectionId } from './connections.js';

/** Whether a host will find one conversation again, as far as this attachment knows. */
export interface Identity {
  /** What was acknowledged; null where nothing was, or where it does not hold any more. */
  readonly saved: SavedIdentity | null;
  /** The last try of a turn failed although its prompt was submitted: why, in words for people; null otherwise. */
  readonly unsaved: string | null;
}

export interface SavedIdentity {
  /** The harness's own name of the session. */
  readonly nativeId: string;
  /** The host's name of where it is kept. */
  readonly identity: string;
}

export type IdentityState = Readonly<Record<ConnectionId, Identity>>;

type Of<T = object> = PayloadAction<T & { readonly connection: ConnectionId }>;

const initialState: IdentityState = {};
const NOTHING: Identity = { saved: null, unsaved: null };

const slice = createSlice({
  name: 'identity',
  initialState,
  reducers: {
    identitySaved: (state, { payload: { connection, ...saved } }: Of<SavedIdentity>) => ({
      ...state,
      [connection]: { saved, unsaved: null },
    }),
    /** What was acknowledged does not hold any more, or nobody can tell. */
    identityVoided: (state, { payload }: Of) => without(state, payload.connection),
    /** The prompt was submitted and is not to be sent again; only finding the conversation later is in doubt. */
    identityUnsaved: (state, { payload }: Of<{ message: string }>) => ({
      ...state,
      [payload.connection]: { ...(state[payload.connection] ?? NOTHING), unsaved: payload.message },
    }),
  },
  extraReducers: (builder) => {
    // Each attachment needs an acknowledgement of its own.
    builder.addCase(opened, (state, { payload: { connection } }) =>
      state[connection] ? without(state, connection) : state,
    );
    builder.addCase(forgotten, (state, { payload }) => without(state, payload.connection));
  },
});

export const { identitySaved, identityVoided, identityUnsaved } = slice.actions;
export const identityReducer = slice.reducer;
