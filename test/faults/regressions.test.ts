import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { approval, delta, DESCRIPTOR, event, turnStart } from '../doubles/runtime.js';
import { settle, Window } from '../support/window.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const BUSY = 'a turn is already in progress';

/** Another window's prompt reached the runtime first; ours is refused, and refused again. */
async function beaten(prompt: string, theirs: string): Promise<Window> {
  const window = await new Window().attach();
  window.runtime.refuse('sendInput', 'busy', BUSY);
  window.runtime.refuse('sendInput', 'busy', BUSY);
  window.submit(prompt);
  const events = [...turnStart(1, theirs), event(3, 'tool_call_started', CALL), approval(4, 7)];
  window.runtime.stream.send(...events);
  window.runtime.snapshot = { history: [], historyCursor: 0, replay: events };
  window.runtime.descriptor = { ...DESCRIPTOR, turnState: 'busy' };
  await settle(1_000);
  return window;
}

const CALL = { id: 'call-1', name: 'bash', arguments: '{}' };

describe('found by two clients that submit at the same time', () => {
  it.each([
    ['another prompt', 'theirs'],
    ['the same prompt', 'ours'],
  ])('a prompt that is refused because %s runs has failed, and was not stopped by anybody', async (_, theirs) => {
    const window = await beaten('ours', theirs);
    expect(window.endings).toEqual([`mine-1 failed ${BUSY}`]);
    expect(window.runtime.count('sendInput')).toBe(2);
  });

  it.each([
    ['another prompt', 'theirs'],
    ['the same prompt', 'ours'],
  ])('the turn of %s goes on: what it asks can be answered, and its end is its own', async (_, theirs) => {
    const window = await beaten('ours', theirs);
    expect(window.phase).toBe('running');
    expect(window.request(7)).toEqual({ phase: 'pending', problem: null });
    window.runtime.stream.send(
      event(5, 'tool_call_completed', { id: 'call-1', output: 'fine', is_error: false }),
      delta(6, 'All done.'),
      event(8, 'turn_succeeded'),
    );
    await settle();
    expect(window.parts.filter((part) => part.kind === 'tool')).toEqual([
      expect.objectContaining({ callId: 'call-1', phase: 'completed', output: 'fine' }),
    ]);
    expect(window.endings).toHaveLength(2);
    expect(window.endings[1]).toMatch(/ succeeded$/);
    expect(window.phase).toBe('idle');
  });
});
