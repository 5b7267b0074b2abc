import type { ConnectionId, ConnectionsState } from './connections.js';
import type { ConversationsState } from './conversations.js';
import type { FocusState } from './focus.js';
import type { HostState } from './hostState.js';
import type { IdentityState } from './identity.js';
import type { LeaseState } from './lease.js';
import type { PermissionsState } from './permissions.js';
import type { Requests, RequestsState } from './requests.js';
import type { SetupState } from './setup.js';
import type { SteeringState } from './steering.js';
import type { Transcript, TranscriptState } from './transcript.js';
import type { TurnState, TurnsState } from './turn.js';

/** All that is known. Plain JSON throughout; no secrets, no clock. */
export interface RootState {
  readonly connections: ConnectionsState;
  readonly transcript: TranscriptState;
  readonly turn: TurnsState;
  readonly requests: RequestsState;
  readonly lease: LeaseState;
  readonly permissions: PermissionsState;
  readonly steering: SteeringState;
  readonly focus: FocusState;
  readonly setup: SetupState;
  readonly conversations: ConversationsState;
  readonly host: HostState;
  readonly identity: IdentityState;
}

/** Counts the shapes that RootState has had; logs of another version replay, but their hashes are not compared. */
export const STATE_VERSION = 4;

export function cursorOf(state: RootState, connection: ConnectionId): number {
  return state.transcript[connection]?.cursor ?? 0;
}

export function withTranscript(state: RootState, connection: ConnectionId, transcript: Transcript): RootState {
  return state.transcript[connection] === transcript
    ? state
    : { ...state, transcript: { ...state.transcript, [connection]: transcript } };
}

export function withTurn(state: RootState, connection: ConnectionId, turn: TurnState): RootState {
  return state.turn[connection] === turn ? state : { ...state, turn: { ...state.turn, [connection]: turn } };
}

export function withRequests(state: RootState, connection: ConnectionId, requests: Requests): RootState {
  return state.requests[connection] === requests
    ? state
    : { ...state, requests: { ...state.requests, [connection]: requests } };
}
