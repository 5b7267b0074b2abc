import { combineReducers, type Reducer, type UnknownAction } from '@reduxjs/toolkit';
import { apply, forceEnd, leave, note, withdraw } from './apply.js';
import {
  attached,
  connectionsReducer,
  forgotten,
  malformedSeen,
  opened,
  replayRefused,
  without,
  type ConnectionId,
} from './connections.js';
import { conversationsAfter, type ConversationsState } from './conversations.js';
import { isEventReceived, type EventReceived } from './events.js';
import { focusReducer } from './focus.js';
import { NO_HOST, type HostState } from './hostState.js';
import type { IdentityState } from './identity.js';
import { join } from './join.js';
import { leaseReducer } from './lease.js';
import { permissionsReducer } from './permissions.js';
import { requestsReducer, unresolvedIds } from './requests.js';
import { withTranscript, type RootState } from './state.js';
import { setupReducer } from './setup.js';
import { steeringReducer } from './steering.js';
import { applyEvent, EMPTY_TRANSCRIPT, type Transcript, type TranscriptState } from './transcript.js';
import { turnReducer } from './turn.js';
import { requestGone, turnEnded, turnLeft } from './verdicts.js';

/** What is loaded only where a host says something: until then nothing can have happened to it. */
export interface LateSlices {
  readonly host: Reducer<HostState>;
  readonly identity: Reducer<IdentityState>;
}

const NOT_LOADED: LateSlices = { host: (state = NO_HOST) => state, identity: (state = {}) => state };

export type RootReducer = (state: RootState | undefined, action: UnknownAction) => RootState;

/**
 * Every fact goes through here. One fact may concern several slices at once (a turn's end retires its requests and its
 * unfinished calls), and what is a repeat is known to the transcript alone; that order is what this file is about.
 */
export function createRootReducer(late: LateSlices = NOT_LOADED): RootReducer {
  const slices = combineReducers({
    connections: connectionsReducer,
    transcript: (state: TranscriptState = {}) => state,
    turn: turnReducer,
    requests: requestsReducer,
    lease: leaseReducer,
    permissions: permissionsReducer,
    steering: steeringReducer,
    focus: focusReducer,
    setup: setupReducer,
    conversations: (state: ConversationsState = {}) => state,
    ...late,
  });
  return (state, action) => {
    if (state !== undefined && isEventReceived(action)) return withEvent(state, action);
    return withTimes(state, afterFact(state, slices(state, action), action), action);
  };
}

function withEvent(state: RootState, action: EventReceived): RootState {
  const { connection, at } = action.meta;
  const transcript = state.transcript[connection];
  const event = action.payload;
  // The streaming path: nothing but the transcript has an interest in streamed text.
  if (transcript === undefined || event.sequence <= transcript.cursor) return state;
  if (event.kind === 'text_delta' || event.kind === 'reasoning') {
    return withStreamed(state, connection, applyEvent(transcript, event));
  }
  return withTimes(state, apply(state, connection, event, at), action);
}

function withTimes(before: RootState | undefined, after: RootState, action: UnknownAction): RootState {
  const conversations = conversationsAfter(before, after, action);
  return conversations === after.conversations ? after : { ...after, conversations };
}

/** Spelled out, because Node 20 takes twenty times as long to spread an object of this size as to build one. */
function withStreamed(root: RootState, connection: ConnectionId, streamed: Transcript): RootState {
  const transcript: Record<ConnectionId, Transcript> = { ...root.transcript };
  transcript[connection] = streamed;
  return {
    connections: root.connections,
    transcript,
    turn: root.turn,
    requests: root.requests,
    lease: root.lease,
    permissions: root.permissions,
    steering: root.steering,
    focus: root.focus,
    setup: root.setup,
    conversations: root.conversations,
    host: root.host,
    identity: root.identity,
  };
}

function afterFact(before: RootState | undefined, state: RootState, action: UnknownAction): RootState {
  if (opened.match(action)) {
    const { connection } = action.payload;
    return state.transcript[connection] ? state : withTranscript(state, connection, EMPTY_TRANSCRIPT);
  }
  if (attached.match(action)) {
    const { connection, snapshot, at } = action.payload;
    return state.connections[connection] ? join(state, connection, snapshot, at) : state;
  }
  if (forgotten.match(action)) {
    return { ...state, transcript: without(state.transcript, action.payload.connection) };
  }
  if (replayRefused.match(action)) {
    const phase = before?.connections[action.payload.connection]?.phase;
    const said = phase?.name === 'attached' && phase.gap !== null;
    return said ? state : note(state, action.payload.connection, { about: 'gap', message: action.payload.message });
  }
  if (malformedSeen.match(action)) {
    return note(state, action.payload.connection, { about: 'malformed', count: action.payload.count });
  }
  if (requestGone.match(action)) {
    const { connection, requestId } = action.payload;
    const waiting = unresolvedIds(state.requests[connection] ?? {}).filter((id) => id === requestId);
    return withdraw(state, connection, waiting, 'notHeld');
  }
  if (turnEnded.match(action)) {
    const { connection, turnId, outcome, message } = action.payload;
    return forceEnd(state, connection, turnId, outcome, message);
  }
  if (turnLeft.match(action)) {
    const { connection, turnId, message } = action.payload;
    return leave(state, connection, turnId, 'failed', message);
  }
  return state;
}
