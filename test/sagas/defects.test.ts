import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { selectHistoryTurns } from '../../src/selectors/historyTurns.js';
import { selectReplyFooter } from '../../src/selectors/footer.js';
import { selectIdentityLabel } from '../../src/selectors/identity.js';
import { startCursor } from '../../src/selectors/newParts.js';
import type { RequestPart } from '../../src/selectors/parts.js';
import { steerRequested } from '../../src/store/steering.js';
import { approval, delta, event, resolved, RuntimeDouble, turnStart } from '../doubles/runtime.js';
import { settle, Window } from '../support/window.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

async function windowWithTurn(prompt = 'hello'): Promise<Window> {
  const window = await new Window().attach();
  window.submit(prompt);
  window.runtime.stream.send(...turnStart(1, prompt));
  await settle();
  return window;
}

const current = ({ app }: Window) => app.getState().turn['c']?.current;
const called = (sequence: number, id: string) =>
  event(sequence, 'tool_call_started', { id, name: 'bash', arguments: '{}' });
const returned = (sequence: number, id: string) =>
  event(sequence, 'tool_call_completed', { id, name: 'bash', output: `of ${id}`, is_error: false });

describe('a prompt that is not the person’s', () => {
  it('[defect D57] because their message came too late for the turn begins one that is not theirs, and ends by itself', async () => {
    const window = await windowWithTurn();
    window.app.dispatch(steerRequested({ connection: 'c', steerId: 's', prompt: 'one more thing' }));
    await settle();
    window.runtime.stream.send(event(3, 'turn_succeeded'), ...turnStart(4, 'one more thing'));
    await settle();
    expect(current(window)).toMatchObject({ phase: 'running', mine: false });
    expect(window.endings).toEqual(['mine-1 succeeded']);
    window.runtime.stream.send(delta(6, 'Done.'), event(7, 'turn_succeeded'));
    await settle();
    expect(window.app.getState().turn['c']?.ended.map(({ mine }) => mine)).toEqual([true, false]);
    expect(window.runtime.count('sendInput')).toBe(1);
  });

  it('[defect D58] because another client wrote it stays theirs, in the middle of our turn and behind it', async () => {
    const window = await windowWithTurn();
    window.runtime.stream.send(event(3, 'user_message', { text: 'status?' }), delta(4, 'All is well.'));
    await settle();
    expect(current(window)).toMatchObject({ phase: 'running', turnId: 'mine-1', mine: true });
    expect(JSON.stringify(window.parts)).not.toContain('status?');
    window.runtime.stream.send(event(5, 'turn_succeeded'), ...turnStart(6, 'and now?'));
    await settle();
    expect(window.endings).toEqual(['mine-1 succeeded']);
    expect(current(window)).toMatchObject({ phase: 'running', mine: false });
  });
});

it('[defect D61] a turn that stalls and is stopped costs nothing: same connection, all of the conversation, next prompt', async () => {
  const window = await windowWithTurn();
  window.runtime.stream.send(delta(3, 'I begin.'));
  window.runtime.descriptor = { ...window.runtime.descriptor, turnState: 'busy' };
  window.runtime.snapshot = { history: [], historyCursor: 0, replay: [...turnStart(1), delta(3, 'I begin.')] };
  await window.pass(32 * 60_000);
  expect(window.phase).toBe('running');
  window.stop();
  await settle();
  window.runtime.stream.send(event(4, 'turn_interrupted'));
  await settle();
  window.submit('go on');
  window.runtime.stream.send(...turnStart(5, 'go on'), delta(7, 'I go on.'), event(8, 'turn_succeeded'));
  await settle();
  expect(window.endings).toEqual(['mine-1 interrupted', 'mine-2 succeeded']);
  expect(window.text).toBe('I begin.I go on.');
  expect(['openEvents', 'sendInput', 'interrupt'].map((call) => window.runtime.count(call as 'attach'))).toEqual([
    1, 2, 1,
  ]);
});

it('[defect G98] an idle window asks its runtime for nothing but to keep control', async () => {
  const window = await new Window().attach();
  const before = window.runtime.calls.length;
  await window.pass(10 * 60_000);
  const calls = window.runtime.calls.slice(before);
  expect(new Set(calls)).toEqual(new Set(['heartbeat']));
  expect(calls.length).toBeLessThanOrEqual(60);
});

it('[defect E68] the model of a subagent is not that of the conversation', async () => {
  const window = await windowWithTurn();
  const label = selectIdentityLabel(window.app.getState(), 'c');
  const from = startCursor(window.app.getState(), 'c');
  window.runtime.stream.send(
    event(3, 'subagent_message', { parent_tool_use_id: 'toolu_1', model: 'haiku', text: 'I look.' }),
    event(4, 'turn_succeeded'),
  );
  await settle();
  expect(selectIdentityLabel(window.app.getState(), 'c')).toBe(label);
  expect(selectReplyFooter(window.app.getState(), 'c', from, 1_000)).toContain('scripted/model');
});

it('[defect C44] a call that nobody was asked about does not pass for approved', async () => {
  const window = await windowWithTurn();
  window.runtime.stream.send(called(3, 'a'), returned(4, 'a'), event(5, 'turn_succeeded'));
  await settle();
  const shown = JSON.stringify([window.parts, selectHistoryTurns(window.app.getState(), 'c')]);
  expect(shown).toContain('of a');
  expect(shown).not.toMatch(/approv|allow/i);
});

describe('what comes in an order that nobody expects', () => {
  it('[defect P7] text ahead of its turn, and the end of a call ahead of its start, are shown', async () => {
    const window = await new Window().attach();
    window.submit();
    window.runtime.stream.send(delta(1, 'Early. '));
    window.runtime.stream.send(...turnStart(2), returned(4, 'a'), called(5, 'a'), delta(6, 'Late.'));
    window.runtime.stream.send(event(7, 'turn_succeeded'));
    await settle();
    expect(window.text).toBe('Early. Late.');
    expect(window.parts.filter(({ kind }) => kind === 'tool')).toMatchObject([{ phase: 'completed', output: 'of a' }]);
    expect(window.endings).toEqual(['mine-1 succeeded']);
  });

  it('[defect P8] numbers and ids that do not sort as text are not old', async () => {
    const runtime = new RuntimeDouble();
    runtime.snapshot = { history: [], historyCursor: 7, replay: [] };
    const window = await new Window(runtime).attach();
    window.submit();
    runtime.stream.send(
      ...turnStart(8),
      called(10, 'call_10'),
      approval(11, 10),
      called(12, 'call_9'),
      approval(13, 9),
    );
    runtime.stream.send(returned(14, 'call_9'), returned(15, 'call_10'), delta(16, 'ok'));
    await settle();
    expect(runtime.count('attach')).toBe(1);
    expect(window.text).toBe('ok');
    const ended = window.parts.filter((part) => part.kind === 'tool' && part.phase === 'completed');
    expect(ended).toMatchObject([
      { callId: 'call_9', output: 'of call_9' },
      { callId: 'call_10', output: 'of call_10' },
    ]);
    expect(window.parts.flatMap((part) => (part.kind === 'request' ? [part.requestId] : []))).toEqual([10, 9]);
  });
});

it.each([{ id: 7 }, { id: 7, kind: 'approval' }, { id: 7, kind: 'elicitation' }, { id: 7, kind: 'of tomorrow' }])(
  '[defect P14] a request of which only this is known can be answered, and stopped: %j',
  async (request) => {
    const window = await windowWithTurn();
    window.runtime.stream.send(event(3, 'request', { request }));
    await settle();
    const [part] = window.parts.filter((each): each is RequestPart => each.kind === 'request');
    expect(part?.answers.length).toBeGreaterThan(1);
    window.stop();
    await settle();
    expect(window.phase).toBe('settling');
    expect([window.runtime.count('interrupt'), window.runtime.count('respond')]).toEqual([1, 1]);
    window.runtime.stream.send(event(4, 'turn_interrupted'));
    await settle();
    expect(window.endings).toEqual(['mine-1 interrupted']);
  },
);

it('[defect P21] a turn whose end got lost is over for a window that is opened later, once the runtime is idle', async () => {
  const runtime = new RuntimeDouble();
  runtime.snapshot = { history: [], historyCursor: 0, replay: [...turnStart(1), delta(3, 'All of it.')] };
  const window = await new Window(runtime).attach();
  await window.pass(60_000);
  expect([window.phase, window.text]).toEqual(['idle', 'All of it.']);
  expect(window.endings).toHaveLength(1);
  window.submit('next');
  await settle();
  expect(runtime.count('sendInput')).toBe(1);
});

it('[defect P40] an error in one part is told, and the part goes on; the others never notice', async () => {
  const window = await windowWithTurn();
  window.stop();
  window.wall = () => {
    throw new Error('no clock');
  };
  await settle();
  expect(window.logged.join('\n')).toContain('c stop crashed: Error: no clock');
  window.wall = () => Date.now();
  window.runtime.stream.send(approval(3, 7));
  await settle(1_000);
  expect(window.runtime.calls.at(-1)).toBe('respond 7 deny');
  window.runtime.stream.send(resolved(4, 7, 'deny'), event(5, 'turn_interrupted'));
  await settle();
  window.submit('next');
  window.runtime.stream.send(...turnStart(6, 'next'));
  await settle();
  window.stop();
  await settle();
  expect(window.phase).toBe('settling');
  expect(window.endings).toEqual(['mine-1 interrupted']);
});
