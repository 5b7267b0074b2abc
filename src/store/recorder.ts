import type { StoreEnhancer, UnknownAction } from '@reduxjs/toolkit';
import { canonicalJson } from './canonical.js';
import { STATE_VERSION, type RootState } from './state.js';

/** The first line of a log. `base` is the state that the log starts from; absent where that is the empty state. */
export interface LogHeader {
  readonly format: 1;
  readonly product: string;
  readonly version: string;
  readonly stateVersion: number;
  /** Epoch ms. */
  readonly startedAt: number;
  /** The `n` of the first action. */
  readonly firstN: number;
  readonly base?: RootState;
}

/** One action, in the order in which the reducer saw them. `at`: epoch ms. */
export interface LogRecord {
  readonly n: number;
  readonly at: number;
  readonly action: UnknownAction;
}

/** The last line of a log that was closed: the SHA-256 of the canonical JSON of the state after action `n`. */
export interface LogFooter {
  readonly end: { readonly n: number; readonly hash: string };
}

/** Takes one line at a time, without its newline. It may throw: recording then ends, the product goes on. */
export interface LogSink {
  write(line: string): void;
}

export interface RecorderOptions {
  readonly product: string;
  readonly version: string;
  /** Epoch ms. */
  readonly wall: () => number;
  /** SHA-256 as lower-case hex. */
  readonly hash: (text: string) => string;
  /** Told once when a sink fails; what was written until then stays. */
  readonly onFailure: (error: unknown) => void;
}

export interface Recorder {
  /** Must be the innermost enhancer: it then sees what the reducer sees, sagas' actions included. */
  readonly enhancer: StoreEnhancer;
  /** Writes the header, and from then on every action. A recording that runs already is ended first. */
  start(sink: LogSink): void;
  /** Writes the footer. Does nothing where nothing is recorded. */
  stop(): void;
}

export function createRecorder({ product, version, wall, hash, onFailure }: RecorderOptions): Recorder {
  let n = 0;
  let sink: LogSink | undefined;
  let state: () => RootState | undefined = () => undefined;

  const write = (line: object) => {
    try {
      sink?.write(JSON.stringify(line));
    } catch (error) {
      sink = undefined;
      onFailure(error);
    }
  };

  const stop = () => {
    if (!sink) return;
    write({ end: { n, hash: hash(canonicalJson(state())) } } satisfies LogFooter);
    sink = undefined;
  };

  const enhancer: StoreEnhancer = (createStore) => (reducer, preloaded) => {
    const store = createStore(reducer, preloaded);
    state = () => store.getState() as unknown as RootState;
    return {
      ...store,
      dispatch: (action) => {
        // Before the store has it: a listener may answer with an action of its own, which the reducer sees later.
        n += 1;
        if (sink) write({ n, at: wall(), action: action as unknown as UnknownAction } satisfies LogRecord);
        return store.dispatch(action);
      },
    };
  };

  return {
    enhancer,
    start: (to) => {
      stop();
      sink = to;
      const base = n === 0 ? undefined : state();
      write({
        format: 1,
        product,
        version,
        stateVersion: STATE_VERSION,
        startedAt: wall(),
        firstN: n + 1,
        ...(base ? { base } : {}),
      } satisfies LogHeader);
    },
    stop,
  };
}
