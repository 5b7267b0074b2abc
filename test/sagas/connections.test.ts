import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ATTEMPTS, FIRST_ATTEMPTS, pauseAfter } from '../../src/sagas/backoff.js';
import { answerRequested } from '../../src/store/requests.js';
import { approval, delta, DESCRIPTOR, event, resolved, RuntimeDouble, turnStart } from '../doubles/runtime.js';
import { settle, Window } from '../support/window.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const HOSTED = { ...DESCRIPTOR, sourceHarness: 'claude-code' };
const BUSY = { ...DESCRIPTOR, turnState: 'busy' } as const;
const retained = (...replay: readonly ReturnType<typeof event>[]) => ({ history: [], historyCursor: 0, replay });

describe('attaching', () => {
  it('opens the stream before it takes the snapshot, and control after it', async () => {
    const window = await new Window().attach();
    expect(window.runtime.calls).toEqual(['openEvents', 'attach', 'takeControl']);
    expect(window.connection).toBe('attached');
  });

  it('[fault 13] drops what the stream brought and the snapshot holds too', async () => {
    const runtime = new RuntimeDouble();
    runtime.descriptor = BUSY;
    runtime.snapshot = retained(...turnStart(1), delta(3, 'one '), delta(4, 'two '));
    const answer = runtime.hold('attach');
    const window = await new Window(runtime).attach();
    runtime.stream.send(delta(3, 'one '), delta(4, 'two '), delta(5, 'three'));
    await settle();
    expect(window.text).toBe('');
    answer();
    await settle();
    expect(window.text).toBe('one two three');
  });

  it('[fault 18] tries again after pauses that grow within bounds, and gives up', async () => {
    const runtime = new RuntimeDouble();
    for (let attempt = 0; attempt < 20; attempt++) runtime.fault('openEvents');
    const window = await new Window(runtime).attach();
    expect(window.connection).toBe('connecting');
    await settle(60_000);
    expect(runtime.count('openEvents')).toBe(FIRST_ATTEMPTS);
    expect(window.connection).toBe('lost');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('[fault 18] keeps each pause between half of its bound and all of it, and never above 5 s', () => {
    for (let attempt = 1; attempt <= 20; attempt++) {
      const bound = Math.min(5_000, 250 * 2 ** (attempt - 1));
      expect(pauseAfter(attempt, 0)).toBe(bound / 2);
      expect(pauseAfter(attempt, 0.999_999)).toBeLessThanOrEqual(bound);
    }
    expect(pauseAfter(1, 0.5, 7_000)).toBe(7_000);
  });

  it('[fault 18] counts on while streams open and bring nothing, and anew once one brought an event', async () => {
    const runtime = new RuntimeDouble();
    const window = await new Window(runtime).attach();
    for (let cut = 1; cut < ATTEMPTS; cut++) {
      runtime.stream.end();
      await settle(5_001);
    }
    expect(runtime.streams).toHaveLength(ATTEMPTS);
    runtime.stream.send(...turnStart(1));
    await settle();
    for (let cut = 1; cut <= ATTEMPTS; cut++) {
      expect(window.connection).toBe('attached');
      runtime.stream.end();
      await settle(5_001);
    }
    runtime.stream.end();
    await settle(5_001);
    expect(window.connection).toBe('lost');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('[fault 18] leaves no timer behind when it is closed while it waits', async () => {
    const runtime = new RuntimeDouble();
    for (let attempt = 0; attempt < 3; attempt++) runtime.fault('openEvents');
    const window = await new Window(runtime).attach();
    await settle(300);
    window.app.dispatch({ type: 'connections/closeRequested', payload: { connection: 'c' } });
    await settle();
    expect(window.connection).toBe('closed');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('[fault 20] twice at once leaves one stream: the other is ended and nothing is shown twice', async () => {
    const window = new Window();
    window.open();
    window.open();
    await settle();
    const open = window.runtime.streams.filter(({ closed }) => !closed);
    expect(open).toHaveLength(1);
    for (const stream of window.runtime.streams) stream.send(...turnStart(1), delta(3, 'once'));
    await settle();
    expect(window.text).toBe('once');
  });

  it.each(['unauthenticated', 'unauthorized'] as const)('that is %s is final until a new handover', async (reason) => {
    const runtime = new RuntimeDouble();
    runtime.refuse('openEvents', reason);
    const window = await new Window(runtime).attach();
    await settle(120_000);
    expect(runtime.count('openEvents')).toBe(1);
    expect(window.connection).toBe('refused');
    window.open();
    await settle();
    expect(window.connection).toBe('attached');
  });

  it('[fault 15] ends when a call meets a runtime that no longer knows us; the turn ends with it', async () => {
    const window = await new Window().attach();
    window.submit();
    window.runtime.stream.send(...turnStart(1), approval(3, 7));
    await settle();
    window.runtime.refuse('interrupt', 'unauthenticated', 'unknown token');
    window.stop();
    await settle(60_000);
    expect(window.connection).toBe('refused');
    expect(window.endings).toEqual(['mine-1 failed unknown token']);
    expect(window.runtime.count('openEvents')).toBe(1);
    expect(window.runtime.stream.closed).toBe(true);
  });
});

describe('a stream that ends', () => {
  it('[defect P4] is replaced, and the text goes on without a gap or a repeat', async () => {
    const window = await new Window().attach();
    window.submit();
    window.runtime.stream.send(...turnStart(1), delta(3, 'one '));
    await settle();
    window.runtime.descriptor = BUSY;
    window.runtime.snapshot = retained(...turnStart(1), delta(3, 'one '), delta(4, 'two '));
    window.runtime.stream.end();
    await settle(1_000);
    window.runtime.stream.send(delta(4, 'two '), delta(5, 'three'), event(6, 'turn_succeeded'));
    await settle();
    expect(window.text).toBe('one two three');
    expect(window.endings).toEqual(['mine-1 succeeded']);
    expect(window.said).toEqual([]);
  });

  it('[defect P4] while a turn ended leaves nothing out: the saved history has the rest', async () => {
    const window = await new Window().attach();
    window.submit();
    window.runtime.stream.send(...turnStart(1), delta(3, 'I will look'));
    await settle();
    const call = { id: 'call_1', name: 'bash', arguments: '{"command":"ls"}' };
    window.runtime.snapshot = {
      history: [
        { role: 'system', text: 'be good', images: 0, toolCalls: [], toolCallId: null },
        { role: 'user', text: 'hello', images: 0, toolCalls: [], toolCallId: null },
        { role: 'assistant', text: 'I will look around.', images: 0, toolCalls: [call], toolCallId: null },
        { role: 'tool', text: 'a file', images: 0, toolCalls: [], toolCallId: 'call_1' },
        { role: 'assistant', text: 'Done.', images: 0, toolCalls: [], toolCallId: null },
      ],
      historyCursor: 12,
      replay: [event(13, 'turn_succeeded')],
    };
    window.runtime.stream.end();
    await settle(1_000);
    expect(window.text).toBe('I will look around.Done.');
    expect(window.parts.find(({ kind }) => kind === 'tool')).toMatchObject({ phase: 'completed', output: 'a file' });
    expect(window.endings).toEqual(['mine-1 succeeded']);
  });

  it('[fault 14] because the runtime was restarted ends the turn, keeps what was shown and follows the new process', async () => {
    const window = await new Window().attach();
    window.submit();
    window.runtime.stream.send(...turnStart(1), delta(3, 'half a sen'), approval(4, 1));
    await settle();
    window.runtime.snapshot = { history: [], historyCursor: 0, replay: [] };
    window.runtime.stream.end();
    await settle(1_000);
    expect(window.endings).toEqual(['mine-1 failed The runtime was restarted and this turn was lost.']);
    expect(window.text).toBe('half a sen');
    expect(window.request(1)).toBeUndefined();
    window.submit('again');
    window.runtime.stream.send(...turnStart(1, 'again'), delta(3, 'tence'), approval(4, 1));
    await settle();
    expect(window.text).toBe('half a sentence');
    expect(window.request(1)).toMatchObject({ phase: 'pending' });
  });

  it('keeps what waits for an answer answerable on a hosted runtime', async () => {
    const runtime = new RuntimeDouble();
    runtime.descriptor = HOSTED;
    const window = await new Window(runtime).attach();
    window.submit();
    const turn = [...turnStart(1), approval(3, 7, ['allow', 'deny'])];
    runtime.stream.send(...turn);
    await settle();
    runtime.descriptor = { ...HOSTED, turnState: 'busy' };
    runtime.snapshot = retained(...turn);
    runtime.stream.end();
    await settle(1_000);
    expect(window.request(7)).toMatchObject({ phase: 'pending' });
    expect(window.parts.filter(({ kind }) => kind === 'request')).toHaveLength(1);
  });

  it('beyond all attempts ends the turn as failed', async () => {
    const window = await new Window().attach();
    window.submit();
    window.runtime.stream.send(...turnStart(1));
    await settle();
    for (let attempt = 0; attempt < 20; attempt++) window.runtime.fault('openEvents');
    window.runtime.stream.end();
    await settle(60_000);
    expect(window.connection).toBe('lost');
    expect(window.endings).toEqual(['mine-1 failed The connection to the runtime was lost: The line broke.']);
  });
});

describe('a stream that falls silent', () => {
  it('[fault 17] for three keep-alives is replaced; the old one is closed only when the new one is open', async () => {
    const window = await new Window().attach();
    const [old] = window.runtime.streams;
    const opening = window.runtime.hold('openEvents');
    await settle(46_000);
    expect(window.connection).toBe('reconnecting');
    expect(old?.closed).toBe(false);
    opening();
    await settle();
    expect(old?.closed).toBe(true);
    expect(window.runtime.calls.slice(-3)).toEqual(['openEvents', 'attach', 'takeControl']);
  });

  it('[fault 17] is left alone while it brings signs of life', async () => {
    const window = await new Window().attach();
    await window.pass(600_000);
    expect(window.runtime.streams).toHaveLength(1);
  });

  it('[fault 16] [defect P12] for as long as a person thinks does not lose the request that waits', async () => {
    const runtime = new RuntimeDouble();
    const window = await new Window(runtime).attach();
    window.submit();
    const turn = [...turnStart(1), approval(3, 7)];
    runtime.stream.send(...turn);
    await settle();
    runtime.descriptor = BUSY;
    runtime.snapshot = retained(...turn);
    await settle(600_000);
    expect(runtime.streams.length).toBeGreaterThan(2);
    expect(window.request(7)).toMatchObject({ phase: 'pending' });
    expect(window.said).toEqual([]);
  });
});

describe('a number that the stream skips', () => {
  it('[fault 11] in front of text is missing text: a snapshot brings it, in its place', async () => {
    const window = await new Window().attach();
    window.submit();
    window.runtime.descriptor = BUSY;
    window.runtime.snapshot = retained(...turnStart(1), delta(3, 'one '), delta(4, 'two '), delta(5, 'three '));
    window.runtime.stream.send(
      ...turnStart(1),
      delta(3, 'one '),
      delta(5, 'three '),
      delta(4, 'two '),
      delta(6, 'four'),
    );
    await settle();
    expect(window.text).toBe('one two three four');
    expect(window.runtime.count('attach')).toBe(2);
    expect(window.runtime.streams).toHaveLength(1);
  });

  it('in front of a native turn’s end is what the runtime numbers anew, and asks for nothing', async () => {
    const window = await new Window().attach();
    window.submit();
    window.runtime.stream.send(...turnStart(1), approval(3, 1), resolved(4, 1), event(7, 'turn_succeeded'));
    await settle();
    expect(window.endings).toEqual(['mine-1 succeeded']);
    expect(window.runtime.count('attach')).toBe(1);
  });

  it('of a hosted runtime is a gap, whatever it stands in front of', async () => {
    const runtime = new RuntimeDouble();
    runtime.descriptor = HOSTED;
    const window = await new Window(runtime).attach();
    window.submit();
    runtime.snapshot = retained(...turnStart(1), delta(3, 'all'), event(4, 'turn_succeeded'));
    runtime.stream.send(...turnStart(1), event(4, 'turn_succeeded'));
    await settle();
    expect(runtime.count('attach')).toBe(2);
    expect(window.text).toBe('all');
    expect(window.endings).toEqual(['mine-1 succeeded']);
  });

  it('[defect P5] that no snapshot can fill is said once, and the live stream goes on', async () => {
    const runtime = new RuntimeDouble();
    runtime.descriptor = HOSTED;
    const window = await new Window(runtime).attach();
    for (let call = 0; call < 10; call++) runtime.refuse('attach', 'transport', 'replay no longer reaches back');
    window.submit();
    runtime.stream.send(...turnStart(1), delta(5, 'later '), delta(9, 'still later'), event(10, 'turn_succeeded'));
    await window.pass(60_000);
    expect(window.text).toBe('later still later');
    expect(window.said).toEqual(["Part of this conversation can't be shown now: replay no longer reaches back"]);
    expect(window.connection).toBe('attached');
    expect(runtime.count('attach')).toBeLessThan(4);
  });

  it('a native runtime fills once the turn that outgrew its replay is over', async () => {
    const runtime = new RuntimeDouble();
    runtime.refuse('attach', 'transport', 'too far back');
    const window = await new Window(runtime).attach();
    runtime.stream.send(delta(5001, 'tail'));
    await settle();
    expect(window.text).toBe('tail');
    runtime.snapshot = {
      history: [
        { role: 'user', text: 'write a lot', images: 0, toolCalls: [], toolCallId: null },
        { role: 'assistant', text: 'a lot and its tail', images: 0, toolCalls: [], toolCallId: null },
      ],
      historyCursor: 5002,
      replay: [event(5003, 'turn_succeeded')],
    };
    runtime.stream.send(event(5003, 'turn_succeeded'));
    await settle();
    expect(runtime.count('attach')).toBe(2);
    expect(window.app.getState().transcript['c']?.history).toHaveLength(2);
    expect(window.text).toBe('');
  });
});

it('[fault 11] a sequence that is repeated, late or out of order changes nothing', async () => {
  const window = await new Window().attach();
  window.submit();
  window.runtime.stream.send(...turnStart(1), delta(3, 'one '), delta(3, 'one '), delta(2, 'late'), delta(4, 'two'));
  await settle();
  expect(window.text).toBe('one two');
});

it('[fault 9] frames that are no events are counted and said, and the rest applies', async () => {
  const window = await new Window().attach();
  window.submit();
  window.runtime.stream.send(...turnStart(1), delta(3, 'one '));
  window.runtime.stream.malformed(2);
  window.runtime.stream.send(delta(4, 'two'));
  await settle();
  expect(window.text).toBe('one two');
  expect(window.said).toEqual(['2 events of the runtime could not be read.']);
  expect(window.app.getState().connections['c']?.malformed).toBe(2);
});

it('[fault 12] an end of a call that comes before its start is shown once, as one call', async () => {
  const window = await new Window().attach();
  window.submit();
  window.runtime.stream.send(
    ...turnStart(1),
    event(3, 'tool_call_completed', { id: 'c1', name: null, output: 'done', is_error: false }),
    event(4, 'tool_call_started', { id: 'c1', name: 'bash', arguments: '{}' }),
    event(5, 'turn_succeeded'),
  );
  await settle();
  expect(window.parts.filter(({ kind }) => kind === 'tool')).toMatchObject([
    { callId: 'c1', name: 'bash', phase: 'completed', output: 'done' },
  ]);
});

describe('a connection that is over', () => {
  it('refuses a prompt, an answer and Stop in words', async () => {
    const window = await new Window().attach();
    window.submit();
    window.runtime.stream.send(...turnStart(1), approval(3, 7));
    await settle();
    window.app.dispatch({ type: 'connections/closeRequested', payload: { connection: 'c' } });
    await settle();
    expect(window.endings).toEqual([
      'mine-1 failed This window no longer follows the conversation; the runtime goes on with it.',
    ]);
    window.submit('more');
    const answer = { kind: 'approval', request_id: 7, decision: 'allow' } as const;
    window.app.dispatch(answerRequested({ connection: 'c', answer, label: 'Allow', by: 'person' }));
    await settle();
    const refusal = 'The runtime is not connected; connect to it again and repeat this.';
    expect(window.endings[1]).toBe(`mine-2 failed ${refusal}`);
    expect(window.request(7)).toEqual({ phase: 'pending', problem: refusal });
    expect(window.runtime.count('sendInput')).toBe(1);
    expect(window.runtime.count('respond')).toBe(0);
  });
});

describe('a connection that is replaced by a new handover', () => {
  it('finds out what became of a prompt that was on its way', async () => {
    const window = await new Window().attach();
    window.runtime.hold('sendInput');
    window.submit();
    await settle();
    window.open();
    await settle(2_000);
    expect(window.runtime.count('sendInput')).toBe(1);
    expect(window.endings[0]).toContain('it was not sent again');
  });

  it('goes on with Stop, and offers an answer again that was on its way', async () => {
    const window = await new Window().attach();
    window.submit();
    const turn = [...turnStart(1), approval(3, 7)];
    window.runtime.stream.send(...turn);
    await settle();
    window.runtime.hold('respond');
    const answer = { kind: 'approval', request_id: 7, decision: 'allow' } as const;
    window.app.dispatch(answerRequested({ connection: 'c', answer, label: 'Allow', by: 'person' }));
    window.runtime.hold('interrupt');
    window.stop();
    await settle();
    window.runtime.descriptor = BUSY;
    window.runtime.snapshot = retained(...turn);
    window.open();
    await settle(3_000);
    expect(window.runtime.count('interrupt')).toBe(2);
    expect(window.phase).toBe('settling');
    expect(window.runtime.calls).toContain('respond 7 deny');
  });
});

it('[fault 19] a burst that gathered during a snapshot is folded in slices, with turns for everything else', async () => {
  const runtime = new RuntimeDouble();
  runtime.descriptor = BUSY;
  runtime.snapshot = retained(...turnStart(1));
  const answer = runtime.hold('attach');
  const window = await new Window(runtime).attach();
  for (let chunk = 0; chunk < 12; chunk++) {
    runtime.stream.send(...Array.from({ length: 400 }, (_, at) => delta(3 + chunk * 400 + at, 'x')));
  }
  await settle();
  answer();
  // Everything that can happen before the event loop turns: a slice, not all of it.
  for (let task = 0; task < 1_000; task++) await Promise.resolve();
  expect(window.text.length).toBeGreaterThan(0);
  expect(window.text.length).toBeLessThan(3_000);
  await settle(100);
  expect(window.text).toHaveLength(4_800);
});
