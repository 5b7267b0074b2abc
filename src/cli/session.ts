import type { StoreEnhancer } from '@reduxjs/toolkit';
import { untilState } from '../sagas/untilState.js';
import { messageOf } from '../protocol/messageOf.js';
import type { ConnectionTarget } from '../protocol/handover.js';
import { startEmbeddedRuntime, type EmbeddedRuntime } from '../runtime/embedded.js';
import { createApp, type App } from '../sagas/app.js';
import { isOver, whyOver } from '../selectors/connections.js';
import { sha256Hex } from '../services/node/hash.js';
import { createLogFile, type LogFile } from '../services/node/logFile.js';
import { nodeServices } from '../services/node/services.js';
import type { Services } from '../services/services.js';
import { opened, type ConnectionPhase, type Origin } from '../store/connections.js';
import { createRecorder, type Recorder } from '../store/recorder.js';
import type { RootState } from '../store/state.js';
import { NotAttached, UsageError } from './exitCodes.js';
import type { ChatOptions } from './options.js';
import { PRODUCT, VERSION } from './version.js';

/** The only connection of a terminal chat. */
export const CHAT = 'chat';

const EMBEDDED_KEY = 'embedded';

/** One store with one connection, and what must be ended with it. */
export interface Session {
  readonly app: App;
  readonly services: Services;
  readonly origin: Origin;
  /** Calls back after each action, before anything acts on it; no action may be dispatched from there. Returns the way out. */
  observe(observer: Observer): () => void;
  /** Ends everything that the session began: sagas, the log with its footer, the embedded runtime. */
  close(): Promise<void>;
}

type Observer = (root: RootState) => void;

export interface SessionOptions extends Pick<ChatOptions, 'where' | 'permissions' | 'record'> {
  /** Receives one line at a time, never a secret. */
  readonly log: (line: string) => void;
}

/** Starts to attach. Throws `UsageError` where the log can't be written. */
export async function openSession({ where, permissions, record, log }: SessionOptions): Promise<Session> {
  const recording = record === undefined ? undefined : startRecording(record, log);
  const runtime = where === undefined ? await startedOr(() => recording?.end()) : undefined;
  const { origin, target } = where ?? { origin: 'embedded', target: embeddedTarget(runtime, permissions) };
  const token = runtime?.mint(target.clientId);
  const services = nodeServices({
    log,
    secrets: (key) => Promise.resolve(key === EMBEDDED_KEY ? token : undefined),
  });
  const observers = new Set<Observer>();
  const app = createApp({ services, recorder: observedBy(observers, recording?.recorder.enhancer) });
  app.dispatch(opened({ connection: CHAT, origin, target }));
  return {
    app,
    services,
    origin,
    observe: (observer) => {
      observers.add(observer);
      return () => observers.delete(observer);
    },
    close: async () => {
      await app.stop();
      recording?.end();
      await runtime?.kill();
    },
  };
}

/** What an observer sees was recorded before. */
function observedBy(observers: ReadonlySet<Observer>, recorder: StoreEnhancer | undefined): StoreEnhancer {
  return (createStore) => (reducer, preloaded) => {
    const store = (recorder?.(createStore) ?? createStore)(reducer, preloaded);
    return {
      ...store,
      dispatch: (action) => {
        const result = store.dispatch(action);
        for (const observer of observers) observer(store.getState() as unknown as RootState);
        return result;
      },
    };
  };
}

/** Resolves at the first attachment. Throws `NotAttached` where that is refused, or tried in vain. */
export async function attach({ app }: Session): Promise<void> {
  await untilState(app, (root) => {
    const phase = phaseOf(root);
    if (isOver(phase)) throw new NotAttached(whyOver(phase));
    return phase?.name === 'attached';
  });
}

export function phaseOf(root: RootState): ConnectionPhase | undefined {
  return root.connections[CHAT]?.phase;
}

async function startedOr(onFailure: () => void): Promise<EmbeddedRuntime> {
  try {
    return await startEmbeddedRuntime();
  } catch (error) {
    onFailure();
    throw error;
  }
}

function embeddedTarget(
  runtime: EmbeddedRuntime | undefined,
  permissions: ConnectionTarget['permissions'],
): ConnectionTarget {
  return {
    baseUrl: runtime?.url ?? '',
    clientId: `supercode-chat-${process.pid}`,
    credential: { kind: 'secret', key: EMBEDDED_KEY },
    permissions,
  };
}

interface Recording {
  readonly recorder: Recorder;
  end(): void;
}

/** Recording starts in front of the first action, so that the log replays from nothing. */
function startRecording(path: string, log: (line: string) => void): Recording {
  const file = createdLog(path);
  const told = (error: unknown) => {
    log(`The recording in ${JSON.stringify(path)} ended early: ${messageOf(error)}`);
  };
  const recorder = createRecorder({
    product: PRODUCT,
    version: VERSION,
    wall: () => Date.now(),
    hash: sha256Hex,
    onFailure: told,
  });
  recorder.start(file);
  return {
    recorder,
    end: () => {
      recorder.stop();
      try {
        file.close();
      } catch (error) {
        told(error);
      }
    },
  };
}

function createdLog(path: string): LogFile {
  try {
    return createLogFile(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    const name = JSON.stringify(path);
    throw new UsageError(
      code === 'EEXIST'
        ? `${name} exists already. Give --record the name of a new file; no log is overwritten.`
        : `The log ${name} can't be written (${code}). Give --record a new file in a folder of yours.`,
    );
  }
}
