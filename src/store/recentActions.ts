import type { StoreEnhancer, UnknownAction } from '@reduxjs/toolkit';
import { attached, forgotten, type ConnectionId } from './connections.js';
import { eventMeta, eventReceived, isEventReceived, type EventReceived } from './events.js';
import { rootReducer } from './root.js';
import type { RootState } from './state.js';
import { wholeText } from './streamedText.js';
import { endOf, entryAt, type Transcript } from './transcript.js';

/** An action as the reducer saw it. `at`: epoch ms. */
export interface Seen {
  readonly at: number;
  readonly action: UnknownAction;
}

/** Told of one action after the other, with the states around it. */
export type Look = (seen: Seen, before: RootState, after: RootState) => void;

/**
 * The newest actions of a window. Of streamed text only its measures are kept, for the text stands in the state: what a
 * delta costs must not grow by what is kept of it (ADR 10).
 */
export interface RecentActions {
  /** Must be the innermost enhancer, as the recorder's. */
  readonly enhancer: StoreEnhancer;
  /** Folds the actions of one conversation anew, oldest first; what concerns others is not in these states. */
  readonly retell: (connection: ConnectionId, look: Look) => void;
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

/** A part of what was seen, and the state in front of it. */
interface Stretch {
  readonly base: RootState;
  /** Of a piece of streamed text only its conversation. */
  readonly kept: (UnknownAction | ConnectionId)[];
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
          keep(action as unknown as UnknownAction, now);
          return store.dispatch(action);
        },
      };
    },
    retell: (connection, look) => {
      const ends = [...stretches.slice(1).map(({ base }) => base), state()];
      let now = stretches[0]?.base;
      for (const [index, stretch] of stretches.entries()) {
        const written = new Written(ends[index]?.transcript[connection]);
        for (const [at, kept] of stretch.kept.entries()) {
          const before: RootState = now ?? stretch.base;
          const action = actionAt(stretch, at, kept, connection, (length) =>
            written.read(before.transcript[connection], stretch.sequences[at] ?? 0, length),
          );
          if (action === undefined) continue;
          now = rootReducer(before, action);
          look({ at: stretch.times[at] ?? 0, action }, before, now);
        }
      }
    },
  };
}

function actionAt(
  { times, lengths, sequences }: Stretch,
  at: number,
  kept: UnknownAction | ConnectionId,
  connection: ConnectionId,
  read: (length: number) => string,
): UnknownAction | EventReceived | undefined {
  if (typeof kept !== 'string') return connectionOf(kept) === connection ? kept : undefined;
  if (kept !== connection) return undefined;
  const text = read(lengths[at] ?? 0);
  return eventReceived({ sequence: sequences[at] ?? 0, kind: 'text_delta', text }, eventMeta(kept, times[at] ?? 0));
}

/** Which conversation an action is about; undefined where it is about none, or about them all. */
function connectionOf({
  payload,
  meta,
}: UnknownAction & { payload?: unknown; meta?: unknown }): ConnectionId | undefined {
  for (const carrier of [meta, payload]) {
    const connection = (carrier as { readonly connection?: unknown } | null | undefined)?.connection;
    if (typeof connection === 'string') return connection;
  }
  return undefined;
}

/** The text of a transcript, for whoever writes it once more piece by piece. */
class Written {
  #at = -1;
  #text = '';

  constructor(private readonly whole: Transcript | undefined) {}

  /** The next piece behind what `sofar` has; nothing where the piece was a repeat, which adds nothing. */
  read(sofar: Transcript | undefined, sequence: number, length: number): string {
    if (!sofar || sequence <= sofar.cursor || sofar.generation !== this.whole?.generation) return '';
    const { open } = sofar;
    const seen = open?.kind === 'text' ? open.text.length : 0;
    const at = open?.kind === 'text' ? sofar.count : endOf(sofar);
    if (at !== this.#at) {
      const entry = entryAt(this.whole, at);
      this.#at = at;
      this.#text = entry?.kind === 'text' ? wholeText(entry.text) : '';
    }
    return this.#text.slice(seen, seen + length);
  }
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
