import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { closeRequested } from '../../src/store/connections.js';
import { steerRequested } from '../../src/store/steering.js';
import { RuntimeDouble, turnStart } from '../doubles/runtime.js';
import { settle, Window } from '../support/window.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

async function running(): Promise<Window> {
  const window = await new Window(new RuntimeDouble()).attach();
  window.submit();
  window.runtime.stream.send(...turnStart(1));
  await settle();
  return window;
}

function steer(window: Window, steerId = 's1', prompt = 'and the tests'): void {
  window.app.dispatch(steerRequested({ connection: 'c', steerId, prompt }));
}

const steerOf = (window: Window, steerId = 's1') => window.app.getState().steering['c']?.[steerId];
const steersOf = (window: Window) => window.runtime.calls.filter((call) => call.startsWith('steer'));

describe('a prompt during a turn', () => {
  it('goes to the runtime as steering, and starts no turn', async () => {
    const window = await running();
    steer(window);
    expect(steerOf(window)).toEqual({ phase: 'sending' });
    await settle();
    expect(steerOf(window)).toEqual({ phase: 'queued' });
    expect(steersOf(window)).toHaveLength(1);
    expect(window.runtime.count('sendInput')).toBe(1);
    expect(window.phase).toBe('running');
  });

  it('takes control once where it is wanted', async () => {
    const window = await running();
    window.runtime.refuse('steer', 'controller_required');
    steer(window);
    await settle();
    expect(steerOf(window)).toEqual({ phase: 'queued' });
    expect(steersOf(window)).toHaveLength(2);
  });

  it('that comes when the turn is over is told from one that can’t be sent', async () => {
    const window = await running();
    window.runtime.refuse('steer', 'unsupported_action');
    steer(window, 'late');
    await settle();
    expect(steerOf(window, 'late')).toMatchObject({ phase: 'refused', over: true });
    window.runtime.refuse('steer', 'invalid_request');
    steer(window, 'bad');
    await settle();
    expect(steerOf(window, 'bad')).toMatchObject({ phase: 'refused', over: false });
  });

  it('whose fate is unknown is not sent again, and that is said', async () => {
    const window = await running();
    window.runtime.fault('steer');
    steer(window);
    await settle();
    expect(steersOf(window)).toHaveLength(1);
    expect(steerOf(window)).toMatchObject({ phase: 'refused', over: false });
    expect(JSON.stringify(steerOf(window))).toContain('Whether the runtime has the message is not known.');
  });

  it('that was on its way when the connection was replaced is refused in words, and not sent again', async () => {
    const window = await running();
    window.runtime.hold('steer');
    steer(window);
    await settle();
    window.open();
    await settle();
    expect(steerOf(window)).toMatchObject({ phase: 'refused', over: false });
    expect(JSON.stringify(steerOf(window))).toContain('Whether the runtime has the message is not known.');
    expect(steersOf(window)).toHaveLength(1);
  });

  it('is refused in words where the connection is over', async () => {
    const window = await running();
    window.app.dispatch(closeRequested({ connection: 'c' }));
    await settle();
    steer(window);
    await settle();
    expect(steerOf(window)).toMatchObject({ phase: 'refused', over: false });
    expect(steersOf(window)).toHaveLength(0);
  });
});
