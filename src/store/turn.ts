import { createSlice, type PayloadAction } from '@reduxjs/toolkit';
import type { RuntimeEvent } from '../protocol/frontend-v2-events.js';
import { forgotten, without, type ConnectionId } from './connections.js';
import type { Outcome } from './transcript.js';

export type TurnId = string;

/** What the runtime is doing for one conversation, and what we asked of it. */
export interface TurnState {
  readonly current: Turn;
  /** The newest ENDED_KEPT turns that are over, each exactly once, oldest first. */
  readonly ended: readonly EndedTurn[];
  /**
   * The prompt that the runtime took since the last turn ended: a `turn_started` without one is a stray repeat and
   * starts nothing.
   */
  readonly prompted: string | null;
}

export type Turn =
  | { readonly phase: 'idle' }
  /** `accepted`: the runtime took the input. `overtaken`: another client's turn runs, so ours will be refused. */
  | {
      readonly phase: 'submitting';
      readonly turnId: TurnId;
      readonly prompt: string;
      readonly at: number;
      readonly accepted: boolean;
      readonly overtaken: boolean;
    }
  | {
      readonly phase: 'running';
      readonly turnId: TurnId;
      readonly mine: boolean;
      readonly at: number;
      readonly problem: string | null;
    }
  /** Stop was asked for. `started`: false while the input may not have reached the runtime; the rest as before Stop. */
  | {
      readonly phase: 'interrupting';
      readonly turnId: TurnId;
      readonly mine: boolean;
      readonly at: number;
      readonly started: true;
    }
  | {
      readonly phase: 'interrupting';
      readonly turnId: TurnId;
      readonly mine: true;
      readonly at: number;
      readonly started: false;
      readonly prompt: string;
      readonly overtaken: boolean;
    }
  /** The runtime acknowledged the interrupt and is bringing the turn to its end. */
  | { readonly phase: 'settling'; readonly turnId: TurnId; readonly mine: boolean; readonly at: number };

export interface EndedTurn {
  readonly turnId: TurnId;
  readonly mine: boolean;
  readonly outcome: Outcome;
  /** Why it failed; empty where there is nothing to say. */
  readonly message: string;
}

export type TurnsState = Readonly<Record<ConnectionId, TurnState>>;

type Of<T = object> = PayloadAction<T & { readonly connection: ConnectionId; readonly turnId: TurnId }>;

const ENDED_KEPT = 32;

export const NO_TURN: TurnState = { current: { phase: 'idle' }, ended: [], prompted: null };

const initialState: TurnsState = {};

const slice = createSlice({
  name: 'turn',
  initialState,
  reducers: {
    /** A person sends a prompt. It starts something only where nothing runs; the saga answers for the other case. */
    submitRequested: (state, { payload }: Of<{ prompt: string; imageUrls?: readonly string[]; at: number }>) =>
      change(state, payload.connection, (turn) =>
        turn.current.phase === 'idle'
          ? {
              ...turn,
              current: {
                phase: 'submitting',
                turnId: payload.turnId,
                prompt: payload.prompt,
                at: payload.at,
                accepted: false,
                overtaken: false,
              },
            }
          : turn,
      ),
    /**
     * The runtime took the input. It takes none while a turn runs, so another client's turn that we heard begin is over,
     * and its end is on its way (answers race events, §4).
     */
    inputAccepted: (state, { payload }: Of) =>
      change(state, payload.connection, (turn) => {
        const { current } = turn;
        if (current.phase === 'idle' || current.turnId !== payload.turnId) return turn;
        if (current.phase === 'interrupting') return { ...turn, current: stopping(current, current.at) };
        if (current.phase !== 'submitting') return turn;
        return { ...turn, current: { ...current, accepted: true } };
      }),
    /** A person wants the turn to stop. */
    interruptRequested: (state, { payload }: Of<{ at: number }>) =>
      change(state, payload.connection, (turn) => {
        const { current } = turn;
        if (current.phase === 'idle' || current.turnId !== payload.turnId) return turn;
        if (current.phase === 'interrupting' || current.phase === 'settling') return turn;
        const { turnId } = current;
        const { at } = payload;
        if (current.phase === 'running') return { ...turn, current: stopping(current, at) };
        const { prompt, accepted, overtaken } = current;
        return {
          ...turn,
          current: accepted
            ? stopping({ turnId, mine: true }, at)
            : { phase: 'interrupting', turnId, mine: true, at, started: false, prompt, overtaken },
        };
      }),
    interruptAcknowledged: (state, { payload }: Of<{ at: number }>) =>
      change(state, payload.connection, (turn) => {
        const { current } = turn;
        if (current.phase !== 'interrupting' || current.turnId !== payload.turnId) return turn;
        return { ...turn, current: { phase: 'settling', turnId: current.turnId, mine: current.mine, at: payload.at } };
      }),
    /** Stop did not reach the runtime: the turn runs on and may be stopped again. */
    interruptFailed: (state, { payload }: Of<{ problem: string; at: number }>) =>
      change(state, payload.connection, (turn) => {
        const { current } = turn;
        if (current.phase !== 'interrupting' || current.turnId !== payload.turnId) return turn;
        return {
          ...turn,
          current: { ...running({ ...current, at: payload.at }, current.mine), problem: payload.problem },
        };
      }),
  },
  extraReducers: (builder) => {
    builder.addCase(forgotten, (state, { payload }) => without(state, payload.connection));
  },
});

export const { submitRequested, inputAccepted, interruptRequested, interruptAcknowledged, interruptFailed } =
  slice.actions;
export const turnReducer = slice.reducer;

/** The turn after an event that concerns it, other than its end. `at`: epoch ms. */
export function afterTurnEvent(turn: TurnState, event: RuntimeEvent, at: number): TurnState {
  const { current } = turn;
  if (event.kind === 'user_message') return { ...turn, prompted: event.text };
  if (event.kind !== 'turn_started' || turn.prompted === null) return turn;
  switch (current.phase) {
    case 'idle':
      return { ...turn, current: running({ turnId: freshId(turn, `seen-${event.sequence}`), at }, false) };
    case 'submitting':
      return turn.prompted.trim() === current.prompt.trim() || (current.accepted && !current.overtaken)
        ? { ...turn, current: running({ turnId: current.turnId, at }, true) }
        : { ...turn, current: { ...current, overtaken: true } };
    case 'interrupting':
      if (current.started) return turn;
      return turn.prompted.trim() === current.prompt.trim()
        ? { ...turn, current: stopping(current, current.at) }
        : { ...turn, current: { ...current, overtaken: true } };
    default:
      return turn;
  }
}

/** A turn that the runtime is busy with and that no event of ours began. */
export function foundBusy(turn: TurnState, at: number): TurnState {
  return turn.current.phase === 'idle'
    ? { ...turn, current: running({ turnId: freshId(turn, `found-${at}`), at }, false) }
    : turn;
}

/** Sequences start over with each process, and recovered turns share one: no two turns that are known have one name. */
function freshId({ ended }: TurnState, name: string): TurnId {
  let id = name;
  for (let count = 2; ended.some(({ turnId }) => turnId === id); count++) id = `${name}.${count}`;
  return id;
}

/**
 * The turn after its end. Of our submission, only what the runtime began can end: a terminal event in front of it
 * belongs to another client's turn.
 */
export function afterEnd(turn: TurnState, outcome: Outcome, message: string): TurnState {
  const { current } = turn;
  switch (current.phase) {
    case 'idle':
      return turn.prompted === null ? turn : { ...turn, prompted: null };
    case 'submitting':
      return { ...turn, prompted: null, current: { ...current, overtaken: false } };
    case 'interrupting':
      if (!current.started) return { ...turn, prompted: null, current: { ...current, overtaken: false } };
      break;
    case 'running':
    case 'settling':
      break;
  }
  return ended(turn, current, outcome, message);
}

/**
 * A turn is over though no event of the runtime said so. One that never became the current one (its prompt was refused
 * because another turn runs) is noted as over, so that whoever waits for it hears of it.
 */
export function afterForcedEnd(turn: TurnState, turnId: TurnId, outcome: Outcome, message: string): TurnState {
  const { current } = turn;
  if (current.phase === 'idle' || current.turnId !== turnId) {
    const known = turn.ended.some((end) => end.turnId === turnId);
    return known ? turn : { ...turn, ended: withEnd(turn.ended, { turnId, mine: true, outcome, message }) };
  }
  const over = ended(turn, current, outcome, message);
  return 'overtaken' in current && current.overtaken ? foundBusy(over, current.at) : over;
}

/** Whether the runtime is known to have begun this turn. */
export function hasBegun(current: Turn): boolean {
  return (
    current.phase === 'running' || current.phase === 'settling' || (current.phase === 'interrupting' && current.started)
  );
}

/** Whether a failure now is what our interrupt looks like on a runtime that has no word for it (hosted, §6.5). */
export function isStopping(turn: TurnState | undefined): boolean {
  return turn?.current.phase === 'settling' || turn?.current.phase === 'interrupting';
}

function ended(
  turn: TurnState,
  current: { readonly turnId: TurnId; readonly mine?: boolean },
  outcome: Outcome,
  message: string,
): TurnState {
  const end: EndedTurn = { turnId: current.turnId, mine: current.mine ?? true, outcome, message };
  return { current: { phase: 'idle' }, ended: withEnd(turn.ended, end), prompted: null };
}

function withEnd(before: readonly EndedTurn[], end: EndedTurn): readonly EndedTurn[] {
  return [...before.slice(1 - ENDED_KEPT), end];
}

function running(
  { turnId, at }: { readonly turnId: TurnId; readonly at: number },
  mine: boolean,
): Turn & { phase: 'running' } {
  return { phase: 'running', turnId, mine, at, problem: null };
}

function stopping({ turnId, mine }: { readonly turnId: TurnId; readonly mine: boolean }, at: number): Turn {
  return { phase: 'interrupting', turnId, mine, at, started: true };
}

function change(state: TurnsState, connection: ConnectionId, to: (turn: TurnState) => TurnState): TurnsState {
  const turn = state[connection] ?? NO_TURN;
  const next = to(turn);
  return next === turn ? state : { ...state, [connection]: next };
}
