import { configureStore, type StoreEnhancer, type UnknownAction } from '@reduxjs/toolkit';
import createSagaMiddleware, { stdChannel, type Saga } from 'redux-saga';
import { call } from 'typed-redux-saga';
import type { Services } from '../services/services.js';
import { isEventReceived } from '../store/events.js';
import { createRootReducer, type LateSlices } from '../store/combine.js';
import type { RootState } from '../store/state.js';
import { runConnections } from './connections.js';
import type { DirectStore } from './context.js';
import { supervised } from './supervise.js';
import { TIMINGS, type Timings } from './timings.js';

export interface AppOptions {
  readonly services: Services;
  /** The recorder's enhancer, innermost. */
  readonly recorder?: StoreEnhancer;
  /** Redux Toolkit's checks of every action and state. For unit tests: they cost a hundred times a dispatch. */
  readonly checks?: boolean;
  readonly timings?: Partial<Timings>;
}

export interface App {
  getState(): RootState;
  dispatch(action: UnknownAction): void;
  /** Calls back after changes: once for a chunk of events, at once for everything else. Returns the way out. */
  subscribe(listener: () => void): () => void;
  /** Takes in what a window loads only where it needs it: slices that change from now on, and a saga beside the others. */
  extend(name: string, slices: LateSlices, saga: Saga<[]>): void;
  /** Ends every saga: streams are closed, timers cancelled. The state stays readable. */
  stop(): Promise<void>;
}

/** The store with everything that acts on it. */
export function createApp({ services, recorder, checks = false, timings = {} }: AppOptions): App {
  const direct: DirectStore = {
    dispatch: (action) => store.dispatch(action),
    getState: () => store.getState(),
  };
  const sagas = createSagaMiddleware({
    channel: quietChannel(),
    context: {
      services,
      timings: { ...TIMINGS, ...timings },
      store: direct,
    },
    onError: (error) => {
      services.log(`A saga died: ${error.stack ?? error.message}`);
    },
  });
  const store = configureStore({
    reducer: createRootReducer(),
    devTools: false,
    middleware: (defaults) =>
      defaults({ thunk: false, serializableCheck: checks, immutableCheck: checks, actionCreatorCheck: checks }).concat(
        sagas,
      ),
    enhancers: (defaults) => {
      const enhancers = defaults({ autoBatch: { type: 'tick' } });
      return recorder ? enhancers.concat(recorder) : enhancers;
    },
  });
  const run = (name: string, saga: Saga<[]>) =>
    sagas.run(function* () {
      yield* call(supervised, name, saga);
    });
  const running = [run('connections', runConnections)];
  return {
    getState: () => store.getState(),
    dispatch: (action) => {
      store.dispatch(action);
    },
    subscribe: (listener) => store.subscribe(listener),
    extend: (name, slices, saga) => {
      store.replaceReducer(createRootReducer(slices));
      running.push(run(name, saga));
    },
    stop: async () => {
      for (const task of running) task.cancel();
      await Promise.allSettled(running.map((task) => task.toPromise()));
    },
  };
}

/** No saga waits for streamed text; waking every waiting saga for each delta would cost more than the delta. */
function quietChannel() {
  const channel = stdChannel<UnknownAction>();
  const put = channel.put.bind(channel);
  channel.put = (action) => {
    if (!isStreamedText(action)) put(action);
  };
  return channel;
}

function isStreamedText(action: UnknownAction): boolean {
  return isEventReceived(action) && (action.payload.kind === 'text_delta' || action.payload.kind === 'reasoning');
}
