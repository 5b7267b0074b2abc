import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { selectControlLabel } from '../../src/selectors/lease.js';
import { DESCRIPTOR, RuntimeDouble, turnStart } from '../doubles/runtime.js';
import { settle, Window } from '../support/window.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const control = (window: Window) =>
  window.runtime.calls.filter((call) => call === 'takeControl' || call === 'heartbeat');
const label = (window: Window) => selectControlLabel(window.app.getState().lease, 'c');

describe('control of a runtime', () => {
  it('is taken on attaching and renewed three times in its time to live', async () => {
    const window = await new Window().attach();
    await settle(30_000);
    expect(control(window)).toEqual(['takeControl', 'heartbeat', 'heartbeat', 'heartbeat']);
    expect(label(window)).toBe('In control');
  });

  it('is not taken by an attachment that may not submit', async () => {
    const runtime = new RuntimeDouble();
    runtime.descriptor = { ...DESCRIPTOR, actions: { ...DESCRIPTOR.actions, submit: false } };
    const window = await new Window(runtime).attach();
    await settle(60_000);
    expect(control(window)).toEqual([]);
  });

  it('is seen to be gone from a heartbeat that succeeds, and is not fought for', async () => {
    const window = await new Window().attach();
    window.runtime.holder = 'the other window';
    await window.pass(60_000);
    expect(control(window)).toEqual(['takeControl', 'heartbeat']);
    expect(label(window)).toBe('Control taken by the other window');
  });

  it('is renewed again once a prompt has taken it back', async () => {
    const window = await new Window().attach();
    window.runtime.holder = 'the other window';
    await settle(10_000);
    window.runtime.refuse('sendInput', 'controller_required');
    window.submit();
    await settle(20_000);
    expect(control(window)).toEqual(['takeControl', 'heartbeat', 'takeControl', 'heartbeat', 'heartbeat']);
    expect(label(window)).toBe('In control');
  });

  it('outlives a heartbeat that met a dead line', async () => {
    const window = await new Window().attach();
    window.runtime.fault('heartbeat');
    await settle(20_500);
    expect(window.connection).toBe('attached');
    expect(window.runtime.count('heartbeat')).toBeGreaterThan(1);
    expect(label(window)).toBe('In control');
  });

  it('[fault 21] is taken again when a heartbeat was answered only after it had run out', async () => {
    const window = await new Window().attach();
    const answer = window.runtime.hold('heartbeat');
    await settle(45_000);
    window.runtime.holder = null;
    answer();
    await settle(2_000);
    expect(control(window)).toEqual(['takeControl', 'heartbeat', 'takeControl']);
    expect(label(window)).toBe('In control');
  });

  it('[fault 21] is asked about at once after the process was paused past its time to live', async () => {
    const window = await new Window().attach();
    window.runtime.holder = null;
    // What a stopped process sees when it goes on: the clock has moved, and its timers are due.
    window.sleep(90_000);
    await settle(12_000);
    expect(control(window)).toEqual(['takeControl', 'heartbeat', 'takeControl']);
  });

  it.each([-3_600_000, 3_600_000])('[fault 21] does not notice that the wall clock jumped by %i ms', async (jump) => {
    const window = await new Window().attach();
    vi.setSystemTime(Date.now() + jump);
    await settle(30_000);
    expect(control(window)).toEqual(['takeControl', 'heartbeat', 'heartbeat', 'heartbeat']);
  });

  it('[fault 23] goes back and forth between two windows only as often as people act, and says who has it', async () => {
    const window = await new Window().attach();
    for (let round = 1; round <= 3; round++) {
      window.runtime.holder = 'the other window';
      await settle(10_000);
      expect(label(window)).toBe('Control taken by the other window');
      await window.pass(60_000);
      expect(window.runtime.count('takeControl')).toBe(round);
      window.runtime.refuse('sendInput', 'controller_required');
      window.submit();
      await settle();
      expect(window.runtime.count('takeControl')).toBe(round + 1);
      window.runtime.stream.send(...turnStart(3 * round - 2), { sequence: 3 * round, kind: 'turn_succeeded' });
      await settle();
    }
    expect(window.runtime.count('sendInput')).toBe(6);
  });

  it('is taken anew on each new stream, because the runtime freed it with the old one', async () => {
    const window = await new Window().attach();
    window.runtime.stream.end();
    await settle(1_000);
    expect(window.runtime.streams).toHaveLength(2);
    expect(control(window)).toEqual(['takeControl', 'takeControl']);
  });

  it('is not taken back by a new stream when another client had taken it before', async () => {
    const window = await new Window().attach();
    window.runtime.holder = 'the other window';
    await settle(10_000);
    window.runtime.stream.end();
    await settle(1_000);
    expect(control(window)).toEqual(['takeControl', 'heartbeat', 'heartbeat']);
    expect(label(window)).toBe('Control taken by the other window');
  });

  it('is not asked for any more once the connection is closed', async () => {
    const window = await new Window().attach();
    window.app.dispatch({ type: 'connections/closeRequested', payload: { connection: 'c' } });
    await settle(60_000);
    expect(control(window)).toEqual(['takeControl']);
    expect(window.connection).toBe('closed');
    expect(vi.getTimerCount()).toBe(0);
  });
});
