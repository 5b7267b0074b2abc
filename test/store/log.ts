import { legacy_createStore, type UnknownAction } from '@reduxjs/toolkit';
import { sha256Hex } from '../../src/services/node/hash.js';
import {
  createRecorder,
  type LogFooter,
  type LogHeader,
  type LogRecord,
  type Recorder,
} from '../../src/store/recorder.js';
import { rootReducer } from '../../src/store/root.js';
import type { RootState } from '../../src/store/state.js';

/** A store with a recorder in it, its clock moving on by 1 ms at each look. */
export class Recording {
  readonly lines: string[] = [];
  readonly failures: unknown[] = [];
  readonly recorder: Recorder;
  readonly store;
  private now = 1_000;

  constructor() {
    this.recorder = createRecorder({
      product: 'test',
      version: '1.2.3',
      wall: () => this.now++,
      hash: sha256Hex,
      onFailure: (error) => this.failures.push(error),
    });
    this.store = legacy_createStore(rootReducer, this.recorder.enhancer);
  }

  start(): this {
    this.recorder.start({ write: (line) => this.lines.push(line) });
    return this;
  }

  dispatch(...actions: readonly UnknownAction[]): this {
    for (const action of actions) this.store.dispatch(action);
    return this;
  }

  /** Ends the recording; the log is then whole. */
  stop(): readonly string[] {
    this.recorder.stop();
    return this.lines;
  }

  get state(): RootState {
    return this.store.getState();
  }
}

export const header = (line: string | undefined) => JSON.parse(line ?? '') as LogHeader;
export const record = (line: string | undefined) => JSON.parse(line ?? '') as LogRecord;
export const footer = (line: string | undefined) => JSON.parse(line ?? '') as LogFooter;
