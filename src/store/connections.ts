import { createSlice, type PayloadAction } from '@reduxjs/toolkit';
import type { Descriptor, HistoryMessage, Snapshot } from '../protocol/frontend-v2.js';
import type { ConnectionTarget } from '../protocol/handover.js';
import type { Refusal } from '../protocol/refusal.js';

export type ConnectionId = string;

/** Who brought the connection here. */
export type Origin = 'api' | 'environment' | 'settings' | 'flags' | 'embedded' | 'host';

/** One attachment to one runtime. */
export interface Connection {
  readonly target: ConnectionTarget;
  readonly origin: Origin;
  /** What whoever handed it over calls it; null where it has no name of its own. */
  readonly label: string | null;
  readonly phase: ConnectionPhase;
  /** As last heard; undefined until the runtime has described itself. */
  readonly descriptor: Descriptor | undefined;
  /** Frames that could not be read as events, since the connection was opened. */
  readonly malformed: number;
  readonly before: Before;
}

/** What is known of a conversation from before this window was attached to it. */
export interface Before {
  /** How far an earlier window had heard it; null where none did. */
  readonly heard: Heard | null;
  /** The conversation as a host keeps it; empty where none gave any. Shown where the runtime itself has no prompt saved. */
  readonly transcript: readonly HistoryMessage[];
}

export interface Heard {
  /** The runtime's own name for the conversation. */
  readonly sessionId: string;
  /** The last event's. */
  readonly sequence: number;
  /** The turn that ran: what became of it is something to tell. Its prompt is null where that is not known. */
  readonly running: { readonly prompt: string | null } | null;
}

export const NOTHING_BEFORE: Before = { heard: null, transcript: [] };

export type ConnectionPhase =
  | { readonly name: 'connecting'; readonly attempt: number }
  /** `since`: epoch ms. `gap`: the runtime's replay does not reach back far enough; only what is live is shown. */
  | { readonly name: 'attached'; readonly since: number; readonly gap: string | null }
  | { readonly name: 'reconnecting'; readonly attempt: number; readonly since: number; readonly reason: LossReason }
  /** Final until somebody hands over a new credential. */
  | { readonly name: 'refused'; readonly refusal: Refusal }
  /** Tried for as long as we try. */
  | { readonly name: 'lost'; readonly message: string }
  | { readonly name: 'closed' };

/** Why a stream no longer serves: it ended, or was silent for three keep-alives. */
export type LossReason = 'ended' | 'silent';

export type ConnectionsState = Readonly<Record<ConnectionId, Connection>>;

interface Opening {
  readonly target: ConnectionTarget;
  readonly origin: Origin;
  readonly label?: string;
  readonly before?: Partial<Before>;
}

type Of<T = object> = PayloadAction<T & { readonly connection: ConnectionId }>;

const initialState: ConnectionsState = {};

const slice = createSlice({
  name: 'connections',
  initialState,
  reducers: {
    /** Somebody handed a runtime over. A known id with a new target starts over; its conversation is kept. */
    opened: (state, { payload }: Of<Opening>) => ({
      ...state,
      [payload.connection]: {
        target: payload.target,
        origin: payload.origin,
        label: payload.label ?? null,
        phase: { name: 'connecting', attempt: 1 } as const,
        descriptor: state[payload.connection]?.descriptor,
        malformed: state[payload.connection]?.malformed ?? 0,
        before: { ...(state[payload.connection]?.before ?? NOTHING_BEFORE), ...payload.before },
      },
    }),
    /** Something is told of the time before: by a host that keeps the conversation, or by an earlier window. */
    recalled: (state, { payload: { connection, ...before } }: Of<Partial<Before>>) => {
      const known = state[connection];
      return known ? { ...state, [connection]: { ...known, before: { ...known.before, ...before } } } : state;
    },
    attemptStarted: (state, { payload }: Of<{ attempt: number; at: number; lost: LossReason | null }>) =>
      inPhase(
        state,
        payload.connection,
        payload.lost === null
          ? { name: 'connecting', attempt: payload.attempt }
          : { name: 'reconnecting', attempt: payload.attempt, since: payload.at, reason: payload.lost },
      ),
    /** A snapshot came: history, and what happened since. The root reducer folds it into every slice. */
    attached: (state, { payload }: Of<{ snapshot: Snapshot; at: number }>) => {
      const known = state[payload.connection];
      if (!known) return state;
      return {
        ...state,
        [payload.connection]: {
          ...known,
          phase: { name: 'attached', since: payload.at, gap: null } as const,
          descriptor: payload.snapshot.descriptor,
          malformed: known.malformed + payload.snapshot.malformed,
        },
      };
    },
    /** The runtime cannot replay far enough back (frontend.v2 §6.4). The live stream is all there is for now. */
    replayRefused: (state, { payload }: Of<{ message: string; at: number }>) =>
      inPhase(state, payload.connection, { name: 'attached', since: payload.at, gap: payload.message }),
    described: (state, { payload }: Of<{ descriptor: Descriptor }>) => {
      const known = state[payload.connection];
      return known ? { ...state, [payload.connection]: { ...known, descriptor: payload.descriptor } } : state;
    },
    malformedSeen: (state, { payload }: Of<{ count: number }>) => {
      const known = state[payload.connection];
      return known
        ? { ...state, [payload.connection]: { ...known, malformed: known.malformed + payload.count } }
        : state;
    },
    refused: (state, { payload }: Of<{ refusal: Refusal }>) =>
      inPhase(state, payload.connection, { name: 'refused', refusal: payload.refusal }),
    gaveUp: (state, { payload }: Of<{ message: string }>) =>
      inPhase(state, payload.connection, { name: 'lost', message: payload.message }),
    /** A person or a host wants the attachment to end. The runtime itself goes on. */
    closeRequested: (state, _: Of) => state,
    closed: (state, { payload }: Of) => inPhase(state, payload.connection, { name: 'closed' }),
    /** Drops all that is known of a connection, in every slice. */
    forgotten: (state, { payload }: Of) => without(state, payload.connection),
  },
});

export const {
  opened,
  recalled,
  attemptStarted,
  attached,
  replayRefused,
  described,
  malformedSeen,
  refused,
  gaveUp,
  closeRequested,
  closed,
  forgotten,
} = slice.actions;
export const connectionsReducer = slice.reducer;

/** `record` without `key`. */
export function without<T>(record: Readonly<Record<string, T>>, key: string): Readonly<Record<string, T>> {
  const { [key]: _, ...rest } = record;
  return rest;
}

function inPhase(state: ConnectionsState, connection: ConnectionId, phase: ConnectionPhase): ConnectionsState {
  const known = state[connection];
  return known ? { ...state, [connection]: { ...known, phase } } : state;
}
