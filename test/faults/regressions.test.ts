import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RuntimeEvent } from '../../src/protocol/frontend-v2-events.js';
import { approval, delta, DESCRIPTOR, event, turnStart } from '../doubles/runtime.js';
import { assistant, user } from '../store/conversation.js';
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
    expect(window.parts.findLast((part) => part.kind === 'tool')).toMatchObject({ phase: 'completed', output: 'fine' });
    expect(window.endings).toHaveLength(2);
    expect(window.endings[1]).toMatch(/ succeeded$/);
    expect(window.phase).toBe('idle');
  });
});

describe('found by cutting the stream at every frame', () => {
  it.each([
    ['acknowledged', true],
    ['not acknowledged', false],
  ])('a turn of ours, %s, of which only the prompt was heard before its end, has ended well', async (_, answered) => {
    const window = await new Window().attach();
    const answer = window.runtime.hold('sendInput');
    window.submit('hello');
    window.runtime.stream.send(event(1, 'user_message', { text: 'hello' }));
    await settle();
    if (answered) answer();
    window.runtime.snapshot = {
      history: [user('hello'), assistant('Hi.')],
      historyCursor: 5,
      replay: [event(6, 'turn_succeeded')],
    };
    window.runtime.stream.end();
    await settle(5_000);
    expect(window.endings).toEqual(['mine-1 succeeded']);
    expect(window.text).toBe('Hi.');
    answer();
    await settle(60_000);
    expect(window.endings).toEqual(['mine-1 succeeded']);
    expect(window.phase).toBe('idle');
  });
});

describe('found by dropping each frame', () => {
  it('a request that was lost on the way is fetched after a silence, once', async () => {
    const window = await new Window().attach();
    window.submit('hello');
    const events = [...turnStart(1), event(3, 'tool_call_started', CALL)];
    window.runtime.stream.send(...events);
    window.runtime.snapshot = { history: [], historyCursor: 0, replay: [...events, approval(4, 7)] };
    window.runtime.descriptor = { ...DESCRIPTOR, turnState: 'busy' };
    await window.pass(100_000);
    expect(window.request(7)).toEqual({ phase: 'pending', problem: null });
    expect(window.runtime.count('attach')).toBe(2);
    expect(window.phase).toBe('running');
  });
});

describe('found by schedule 1089', () => {
  it('a snapshot of a restarted runtime ends the stream of the dead one: what it still brings is not applied', async () => {
    const window = await new Window().attach();
    window.submit('hello');
    window.runtime.stream.send(...turnStart(1), delta(3, 'one '));
    await settle();
    // The snapshot that should fill the gap comes from the successor, which knows nothing yet.
    window.runtime.stream.send(delta(5, 'three '), delta(6, 'four '));
    await settle();
    expect(window.text).toBe('one ');
    expect(window.runtime.streams).toHaveLength(2);
    expect(window.runtime.streams[0]?.closed).toBe(true);
    window.runtime.stream.send(...turnStart(1, 'again'), delta(3, 'new'), event(4, 'turn_succeeded'));
    await settle();
    expect(window.text).toBe('one new');
    expect(window.said.filter((text) => text.includes('restarted'))).toHaveLength(2);
  });
});

describe('found by schedules 2434 and 2566', () => {
  it('a prompt that the successor of a restarted runtime took is not lost with its predecessor', async () => {
    const window = await new Window().attach();
    window.submit('first');
    window.runtime.stream.send(...turnStart(1, 'first'), delta(3, 'one '), event(4, 'turn_succeeded'));
    await settle();
    const reopened = window.runtime.hold('openEvents');
    window.runtime.stream.end();
    await settle();
    window.submit('second');
    await settle();
    // Taken before the successor had the prompt.
    reopened();
    await settle();
    window.runtime.stream.send(...turnStart(1, 'second'), delta(3, 'two'));
    window.runtime.descriptor = { ...DESCRIPTOR, turnState: 'busy' };
    window.runtime.snapshot = {
      history: [],
      historyCursor: 0,
      replay: [...turnStart(1, 'second'), delta(3, 'two')],
    };
    await settle(10_000);
    expect(window.endings).toEqual(['mine-1 succeeded']);
    expect(window.phase).toBe('running');
    window.runtime.stream.send(event(4, 'turn_succeeded'));
    await settle();
    expect(window.endings).toEqual(['mine-1 succeeded', 'mine-2 succeeded']);
  });

  it('a turn that began right behind a snapshot that shows an idle runtime is not ended by it', async () => {
    const window = await new Window().attach();
    const reopened = window.runtime.hold('attach');
    window.runtime.stream.keepAlive();
    await settle();
    window.runtime.stream.end();
    await settle();
    window.submit('hello');
    await settle();
    reopened();
    await settle();
    window.runtime.stream.send(...turnStart(1), delta(3, 'going on'));
    window.runtime.descriptor = { ...DESCRIPTOR, turnState: 'busy' };
    window.runtime.snapshot = { history: [], historyCursor: 0, replay: [...turnStart(1), delta(3, 'going on')] };
    await settle(10_000);
    expect(window.endings).toEqual([]);
    expect(window.phase).toBe('running');
  });
});

describe('found by schedule 5134', () => {
  /** A turn that is over and saved, and one that died unsaved with its process; attached to the successor. */
  async function survivor(): Promise<Window> {
    const window = await new Window().attach();
    window.submit('first');
    window.runtime.stream.send(...turnStart(1, 'first'), delta(3, 'one '), event(4, 'turn_succeeded'));
    await settle();
    window.submit('second');
    window.runtime.stream.send(...turnStart(5, 'second'), delta(7, 'two '));
    await settle();
    window.runtime.snapshot = {
      history: [user('first'), assistant('one ')],
      historyCursor: 0,
      replay: [],
    };
    window.runtime.stream.end();
    await settle(1_000);
    expect(window.endings[1]).toMatch(/^mine-2 failed/);
    return window;
  }

  it.each([
    ['is left alone', false],
    ['is stopped before anything was heard of it', true],
  ])('a turn of the successor that nobody heard is found behind the one that died, and it %s', async (_, stopped) => {
    const window = await survivor();
    const reopened = window.runtime.hold('openEvents');
    window.submit('third');
    await settle();
    window.runtime.stream.keepAlive();
    window.runtime.stream.end();
    await settle();
    window.runtime.running = false;
    if (stopped) window.stop();
    window.runtime.snapshot = {
      history: [user('first'), assistant('one '), user('third'), assistant('three ')],
      historyCursor: 5,
      replay: [event(6, 'turn_succeeded')],
    };
    reopened();
    await settle(10_000);
    expect(window.endings[2]).toBe('mine-3 succeeded');
    expect(window.text).toBe('one two three ');
    expect(window.phase).toBe('idle');
  });

  it('Stop on a prompt that the runtime took is carried out though nothing was heard of its turn', async () => {
    const window = await new Window().attach();
    window.submit();
    await settle();
    window.runtime.running = false;
    window.stop();
    await settle(60_000);
    expect(window.runtime.count('interrupt')).toBe(1);
    expect(window.phase).toBe('idle');
    expect(window.endings).toHaveLength(1);
  });
});

describe('found by schedules with a prompt that is sent twice by the person', () => {
  const first = [...turnStart(1), delta(3, 'Hi.'), event(4, 'turn_succeeded')];
  const twice = [user('hello'), assistant('Hi.'), user('hello'), assistant('Hi.')];

  /** Says hello, and hello again; the stream is gone before the second turn is over. */
  async function repeated(heard: readonly RuntimeEvent[], stopped: boolean): Promise<Window> {
    const window = await new Window().attach();
    window.submit('hello');
    window.runtime.stream.send(...first);
    await settle();
    const reopened = window.runtime.hold('openEvents');
    window.submit('hello');
    window.runtime.stream.send(...heard);
    await settle();
    window.runtime.stream.end();
    await settle();
    window.runtime.running = false;
    if (stopped) window.stop();
    window.runtime.snapshot = { history: twice, historyCursor: 9, replay: [event(10, 'turn_succeeded')] };
    reopened();
    await settle(10_000);
    return window;
  }

  it.each([
    ['nothing', [], false],
    ['nothing, and which is stopped,', [], true],
    ['only the prompt', [event(5, 'user_message', { text: 'hello' })], false],
    ['the beginning', [...turnStart(5), delta(7, 'H')], false],
  ])('the second turn, of which %s was heard, is told once', async (_, heard, stopped) => {
    const window = await repeated(heard, stopped);
    expect(window.text).toBe('Hi.Hi.');
    expect(window.endings).toEqual(['mine-1 succeeded', 'mine-2 succeeded']);
    expect(window.phase).toBe('idle');
  });

  it('a prompt that arrives behind the snapshot that was asked about it has arrived', async () => {
    const window = await new Window().attach();
    window.runtime.fault('sendInput');
    window.submit('hello');
    await settle(1_000);
    window.runtime.stream.send(...first);
    await settle(5_000);
    expect(window.endings).toEqual(['mine-1 succeeded']);
    expect(window.runtime.count('sendInput')).toBe(1);
  });
});

describe('found by schedule 30533', () => {
  it('a prompt of ours behind a turn that was stopped is no steering of it, though both answers read the same', async () => {
    const window = await new Window().attach();
    window.submit('first');
    window.runtime.stream.send(...turnStart(1, 'first'), delta(3, 'I look.'), event(4, 'turn_interrupted'));
    await settle();
    window.submit('second');
    window.runtime.stream.end();
    window.runtime.snapshot = {
      history: [user('first'), user('second'), assistant('I look.')],
      historyCursor: 8,
      replay: [event(9, 'turn_succeeded')],
    };
    await settle(10_000);
    expect(window.endings).toEqual(['mine-1 interrupted', 'mine-2 succeeded']);
    expect(window.text).toBe('I look.I look.');
  });
});

describe('found by schedules 40107, 41330 and 51135', () => {
  it('a prompt waits for the stream: without one the runtime would deny whatever its turn asks', async () => {
    const window = await new Window().attach();
    window.runtime.stream.keepAlive();
    await settle();
    const reopened = window.runtime.hold('openEvents');
    window.runtime.stream.end();
    await settle();
    window.submit('hello');
    await settle(1_000);
    expect(window.runtime.count('sendInput')).toBe(0);
    expect(window.phase).toBe('submitting');
    reopened();
    await settle(1_000);
    expect(window.runtime.count('sendInput')).toBe(1);
    expect(window.runtime.calls.indexOf('sendInput hello')).toBeGreaterThan(window.runtime.calls.lastIndexOf('attach'));
  });

  it('a prompt that waits for the stream can be stopped, and is then never sent', async () => {
    const window = await new Window().attach();
    window.runtime.hold('openEvents');
    window.runtime.stream.keepAlive();
    await settle();
    window.runtime.stream.end();
    await settle();
    window.submit('hello');
    await settle(1_000);
    window.stop();
    await settle(1_000);
    expect(window.endings).toEqual(['mine-1 interrupted']);
    expect(window.runtime.count('sendInput')).toBe(0);
  });

  /** Turns as `prompt answer end`; each `restart` loses the one before it. Returns how the window sees the last. */
  async function after(restarts: readonly string[], again: string): Promise<Window> {
    const window = await new Window().attach();
    window.submit('first');
    window.runtime.stream.send(...turnStart(1, 'first'), delta(3, 'one '), event(4, 'turn_succeeded'));
    await settle();
    let sequence = 5;
    for (const prompt of restarts) {
      window.submit(prompt);
      window.runtime.stream.send(...turnStart(sequence, prompt), delta(sequence + 2, 'dead '));
      await settle();
      window.runtime.snapshot = {
        history: [user('first'), assistant('one ')],
        historyCursor: 0,
        replay: [],
      };
      window.runtime.stream.end();
      await settle(1_000);
      sequence = 1;
    }
    window.submit(again);
    await settle();
    window.runtime.snapshot = {
      history: [user('first'), assistant('one '), user(again), assistant('dead and alive')],
      historyCursor: 6,
      replay: [event(7, 'turn_succeeded')],
    };
    window.runtime.stream.keepAlive();
    window.runtime.stream.end();
    await settle(10_000);
    return window;
  }

  it.each([
    ['one of the same words', ['again']],
    ['several, the last of the same words', ['lost', 'again']],
    ['several, the first of the same words', ['again', 'lost']],
  ])('a turn that nobody heard, behind turns that died unsaved, %s, is told whole', async (_, restarts) => {
    const window = await after(restarts, 'again');
    expect(window.endings.at(-1)).toMatch(/^mine-\d+ succeeded$/);
    expect(window.endings).toHaveLength(restarts.length + 2);
    expect(window.text).toBe(`one ${'dead '.repeat(restarts.length)}dead and alive`);
  });
});

describe('found by schedule 80724', () => {
  it('Stop on a prompt that another client got ahead of leaves the turn of that client alone', async () => {
    const window = await new Window().attach();
    const answer = window.runtime.hold('takeControl');
    window.runtime.refuse('sendInput', 'controller_required');
    window.submit('ours');
    await settle();
    window.stop();
    const events = [...turnStart(1, 'theirs'), delta(3, 'their text'), approval(4, 7)];
    window.runtime.stream.send(...events);
    window.runtime.snapshot = { history: [], historyCursor: 0, replay: events };
    window.runtime.descriptor = { ...DESCRIPTOR, turnState: 'busy' };
    await settle();
    answer();
    await settle(10_000);
    expect(window.runtime.count('interrupt')).toBe(0);
    expect(window.runtime.count('respond')).toBe(0);
    expect(window.endings).toEqual(['mine-1 interrupted']);
    expect(window.phase).toBe('running');
    expect(window.request(7)).toEqual({ phase: 'pending', problem: null });
  });
});

describe('found by schedule 90998', () => {
  it.each([
    ['was stopped', true, 'interrupted'],
    ['was left alone', false, 'failed This turn ended while the connection was down; how is not known.'],
  ])('a turn that %s, and whose end another client’s turn drove out of the replay', async (_, stopped, end) => {
    const window = await new Window().attach();
    window.submit('ours');
    window.runtime.stream.send(...turnStart(1, 'ours'), delta(3, 'so far'));
    await settle();
    if (stopped) window.stop();
    await settle();
    window.runtime.snapshot = {
      history: [user('ours'), user('theirs'), assistant('done')],
      historyCursor: 8,
      replay: [event(9, 'turn_succeeded')],
    };
    window.runtime.stream.end();
    await settle(10_000);
    expect(window.endings[0]).toBe(`mine-1 ${end}`);
    expect(window.endings).toHaveLength(2);
    expect(window.text).toBe('so fardone');
  });
});

describe('found by schedule 150402', () => {
  it('another client’s turn of which only the prompt was heard does not end ours behind it', async () => {
    const window = await new Window().attach();
    window.runtime.stream.send(event(1, 'user_message', { text: 'theirs' }));
    await settle();
    window.submit('ours');
    await settle();
    window.runtime.snapshot = {
      history: [user('theirs'), assistant('done'), user('ours')],
      historyCursor: 8,
      replay: [event(9, 'turn_failed', { message: 'no model' })],
    };
    window.runtime.stream.end();
    await settle(10_000);
    expect(window.endings).toEqual(['mine-1 failed no model']);
    expect(window.text).toBe('done');
  });
});

describe('found by schedule 120675', () => {
  it('a prompt of ours whose answer was lost is no steering of the turn before, though both answers read the same', async () => {
    const window = await new Window().attach();
    window.submit('first');
    window.runtime.stream.send(...turnStart(1, 'first'), delta(3, 'I look.'), event(4, 'turn_failed', { message: '' }));
    await settle();
    window.runtime.hold('sendInput');
    window.submit('second');
    await settle();
    window.runtime.snapshot = {
      history: [user('first'), user('second'), assistant('I look.')],
      historyCursor: 8,
      replay: [event(9, 'turn_succeeded')],
    };
    window.open();
    await settle(10_000);
    expect(window.endings[1]).toBe('mine-2 succeeded');
    expect(window.text).toBe('I look.I look.');
  });
});

describe('found by schedule 796077378', () => {
  it('a prompt that was taken before the end of another client’s turn was heard keeps its own end', async () => {
    const window = await new Window().attach();
    const answer = window.runtime.hold('sendInput');
    window.submit('ours');
    await settle();
    window.runtime.stream.send(...turnStart(1, 'theirs'), delta(3, 'their text'));
    await settle();
    answer();
    await settle();
    window.runtime.stream.send(event(4, 'turn_succeeded'));
    await settle();
    expect(window.endings).toEqual([]);
    window.runtime.stream.send(...turnStart(5, 'ours'), event(7, 'turn_failed', { message: 'no model' }));
    await settle();
    expect(window.endings).toEqual(['mine-1 failed no model']);
  });
});
