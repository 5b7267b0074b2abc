import { expect, it } from 'vitest';
import { canonicalJson } from '../../src/store/canonical.js';
import { createRing } from '../../src/store/ring.js';
import { emptyState, replay } from '../../src/store/replay.js';
import { createRecorder } from '../../src/store/recorder.js';
import { rootReducer } from '../../src/store/root.js';
import { legacy_createStore } from '@reduxjs/toolkit';
import { actionsOf } from '../support/traffic.js';

it.each([1, 3, 10, 10_000])(
  '[defect P39] a ring of %i actions replays to the state that the whole log has',
  (limit) => {
    const ring = createRing(limit);
    const recorder = createRecorder({
      product: 'test',
      version: '0',
      wall: () => 0,
      hash: (text) => String(text.length),
      onFailure: (error) => {
        throw error;
      },
    });
    const store = legacy_createStore(rootReducer, emptyState(), recorder.enhancer);
    recorder.start(ring);
    for (const action of actionsOf('tool-approval-allow', 'A', () => store.getState())) store.dispatch(action);
    const live = replay(ring.lines());
    expect(canonicalJson(live.state)).toBe(canonicalJson(store.getState()));
    expect(live.damage).toEqual([]);
    expect(ring.lines().length).toBeLessThanOrEqual(limit + 1);
    recorder.stop();
    const closed = replay(ring.lines());
    expect(closed.recordedHash).toBe(String(canonicalJson(store.getState()).length));
  },
);
