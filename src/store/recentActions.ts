import type { StoreEnhancer, UnknownAction } from '@reduxjs/toolkit';
import { attached, forgotten, type ConnectionId } from './connections.js';
import { isEventReceived } from './events.js';
import type { RootState } from './state.js';

/**
 * The newest actions of a window. Of streamed text only its measures are kept, for the text stands in the state: what a
 * delta costs must not grow by what is kept of it (ADR 10).
 */
export interface RecentActions {
  /** Must be the innermost enhancer, as the recorder's. */
  readonly enhancer: StoreEnhancer;
  /** Oldest first; each goes on where the one before it ends. */
  readonly stretches: () => readonly Stretch[];
  /** The state behind the last of them; undefined in front of the first action. */
  readonly now: () => RootState | undefined;
}

export interface RecentActionsOptions {
  /** Epoch ms. */
  readonly wall: () => number;
  readonly limits?: RecentLimits;
}

export interface RecentLimits {
  /** Actions that are dropped at once; the state in front of what is left has to be kept for each of them. */
  readonly stretch: number;
  readonly actions: number;
  /** Estimated; most of the text in them is the state's as well. */
  readonly bytes: number;
}

export const RECENT_LIMITS: RecentLimits = { stretch: 2_048, actions: 200_000, bytes: 16 * 1024 * 1024 };

/** A part of what was seen, and the state in front of it. A snapshot begins a new one. */
export interface Stretch {
  readonly base: RootState;
  /** Of a piece of streamed text only its conversation. */
  readonly kept: (UnknownAction | ConnectionId)[];
  /** Epoch ms. */
  readonly times: Float64Array;
  readonly sequences: Float64Array;
  /** UTF-16 units. */
  readonly lengths: Uint32Array;
  bytes: number;
}

export function createRecentActions({ wall, limits = RECENT_LIMITS }: RecentActionsOptions): RecentActions {
  const stretches: Stretch[] = [];
  let newest: Stretch | undefined;
  let state: () => RootState | undefined = () => undefined;

  /** Whole stretches go, the oldest first. */
  const begin = (base: RootState): Stretch => {
    const begun = emptyStretch(base, limits.stretch);
    stretches.push(begun);
    let [actions, bytes] = [0, 0];
    const last = stretches.findLastIndex((stretch) => {
      actions += stretch.kept.length;
      bytes += stretch.kept.length * MEASURES_BYTES + stretch.bytes;
      return actions > limits.actions || bytes > limits.bytes;
    });
    stretches.splice(0, last + 1);
    return begun;
  };

  const room = (store: () => RootState): Stretch => {
    if (newest && newest.kept.length < limits.stretch && newest.bytes < limits.bytes / 4) return newest;
    newest = begin(store());
    return newest;
  };

  /** On the streaming path. */
  const keep = (action: UnknownAction, store: () => RootState) => {
    if (isEventReceived(action)) {
      const { payload, meta } = action;
      const { kept, times, sequences, lengths } = room(store);
      const at = kept.length;
      times[at] = meta.at;
      if (payload.kind === 'text_delta') {
        sequences[at] = payload.sequence;
        lengths[at] = payload.text.length;
        kept.push(meta.connection);
        return;
      }
    } else {
      // What a snapshot brings may take the place of the text before it, which is then in this state for the last time.
      if (attached.match(action) || forgotten.match(action)) newest = begin(store());
      const { kept, times } = room(store);
      times[kept.length] = wall();
    }
    if (newest === undefined) return;
    newest.kept.push(action);
    newest.bytes += bytesOf(action);
  };

  return {
    enhancer: (createStore) => (reducer, preloaded) => {
      const store = createStore(reducer, preloaded);
      const now = () => store.getState() as unknown as RootState;
      state = now;
      return {
        ...store,
        dispatch: (action) => {
          // Before the store has it: a listener may answer with an action of its own, which the reducer sees later.
          keep(action, now);
          return store.dispatch(action);
        },
      };
    },
    stretches: () => stretches,
    now: () => state(),
  };
}

/** The numbers that stand for a piece of streamed text. */
const MEASURES_BYTES = 28;

function emptyStretch(base: RootState, length: number): Stretch {
  return {
    base,
    kept: [],
    times: new Float64Array(length),
    sequences: new Float64Array(length),
    lengths: new Uint32Array(length),
    bytes: 0,
  };
}

function bytesOf(value: unknown): number {
  if (typeof value === 'string') return 2 * value.length;
  if (typeof value !== 'object' || value === null) return 8;
  return Object.values(value).reduce<number>((sum, member) => sum + 16 + bytesOf(member), 32);
}
