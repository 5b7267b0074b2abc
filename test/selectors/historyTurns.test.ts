import { describe, expect, it } from 'vitest';
import type { HistoryMessage } from '../../src/protocol/frontend-v2.js';
import { HISTORY_TURNS_LIMIT, PART_LIMIT } from '../../src/selectors/bounds.js';
import { HISTORY_MARKER, selectHistoryTurns } from '../../src/selectors/historyTurns.js';
import type { ChatPart } from '../../src/selectors/parts.js';
import { described, forgotten } from '../../src/store/connections.js';
import { answerRequested } from '../../src/store/requests.js';
import type { RootState } from '../../src/store/state.js';
import { approval, delta, event, resolved, turnStart } from '../doubles/runtime.js';
import {
  assistant,
  attach,
  BUSY,
  call,
  fold,
  heard,
  IDLE,
  open,
  receive,
  result,
  system,
  user,
} from '../store/conversation.js';

const turnsOf = (state: RootState, connection = 'c') => selectHistoryTurns(state, connection);
const saved = (...history: readonly HistoryMessage[]) => turnsOf(heard([], { history, historyCursor: 9 }));

function brief(part: ChatPart): string {
  switch (part.kind) {
    case 'tool':
      return `tool ${part.name}(${part.input ?? ''}) ${part.phase} ${part.output ?? '—'}${part.isError ? ' (error)' : ''}`;
    case 'request':
      return `request ${part.title} ${part.answers.map(({ label }) => label).join('|')}`.trim();
    case 'diff':
      return 'diff';
    default:
      return `${part.kind} ${part.text}`;
  }
}
/** Each turn as its prompt (or the marker) and its parts. */
const drawn = (turns: ReturnType<typeof turnsOf>) =>
  turns.map(({ prompt, marker, parts }) => [marker ? HISTORY_MARKER : prompt, ...parts.map(brief)]);

describe('a saved history', () => {
  it('is pairs of a prompt and its response', () => {
    expect(drawn(saved(user('one'), assistant('A.'), user('two'), assistant('B.')))).toEqual([
      ['one', 'markdown A.'],
      ['two', 'markdown B.'],
    ]);
  });

  it('shows nothing of the system: that is the model’s affair', () => {
    const turns = saved(system('You are.'), user('one'), system('[compacted]'), assistant('A.'));
    expect(drawn(turns)).toEqual([['one', 'markdown A.']]);
    expect(JSON.stringify(turns)).not.toContain('You are');
  });

  it('[defect E64] begins with a marker turn where a response has no request before it', () => {
    const turns = saved(
      system('[earlier conversation compacted: 3 messages]'),
      assistant('A.'),
      user('two'),
      assistant('B.'),
    );
    expect(drawn(turns)).toEqual([
      [HISTORY_MARKER, 'markdown A.'],
      ['two', 'markdown B.'],
    ]);
    expect(turns[0]).toMatchObject({ prompt: null, marker: true });
    expect(HISTORY_MARKER).toBe('⟨supercode runtime history⟩');
  });

  it('has a turn for each prompt, though one has no response', () => {
    expect(drawn(saved(user('one'), user('two'), assistant('B.')))).toEqual([['one'], ['two', 'markdown B.']]);
  });

  it('[defect C44] has calls with their results, said neutrally: that one is recorded does not prove that it was permitted', () => {
    const turns = saved(
      user('one'),
      assistant('Look.', call('a', '{"n":1}'), call('b', '{"n":2}', 'read')),
      result('a', 'ok'),
      result('b', 'Error: no such file'),
      assistant('Done.'),
    );
    expect(drawn(turns)).toEqual([
      [
        'one',
        'markdown Look.',
        'tool bash({"n":1}) completed ok',
        'tool read({"n":2}) completed Error: no such file (error)',
        'markdown Done.',
      ],
    ]);
    expect(JSON.stringify(turns)).not.toMatch(/allow|approv|permi/i);
  });

  it('has a call without a result where the turn was cut short', () => {
    expect(drawn(saved(user('one'), assistant('', call('a'))))).toEqual([['one', 'tool bash({}) abandoned —']]);
  });

  it('has a result without the call that compaction took', () => {
    expect(drawn(saved(result('a', 'orphan'), result(null, 'nameless'), user('two')))).toEqual([
      [HISTORY_MARKER, 'tool tool() completed orphan', 'tool tool() completed nameless'],
      ['two'],
    ]);
  });

  it('gives each call its own result, though ids come again in each turn', () => {
    const turns = saved(
      user('one'),
      assistant('', call('call_0')),
      result('call_0', 'first'),
      user('two'),
      assistant('', call('call_0')),
      result('call_0', 'second'),
      user('three'),
      assistant('', call('call_0')),
      user('four'),
      assistant('', call('call_0')),
      result('call_0', 'fourth'),
    );
    expect(drawn(turns)).toEqual([
      ['one', 'tool bash({}) completed first'],
      ['two', 'tool bash({}) completed second'],
      ['three', 'tool bash({}) abandoned —'],
      ['four', 'tool bash({}) completed fourth'],
    ]);
  });

  it('says how many images a prompt had', () => {
    const withImages = (text: string, images: number): HistoryMessage => ({ ...user(text), images });
    expect(drawn(saved(withImages('Look:', 1), withImages('', 2), withImages('', 0)))).toEqual([
      ['Look:\n(one image)'],
      ['(2 images)'],
      [''],
    ]);
  });

  it('has bounded, clean text', () => {
    const [turn] = saved(
      user(`\u001b[31m${'p'.repeat(2 * PART_LIMIT)}`),
      assistant(`\u0007${'x'.repeat(PART_LIMIT + 5)}`),
      assistant('', call('a', 'y'.repeat(2 * PART_LIMIT))),
    );
    expect(turn?.prompt?.length).toBeLessThanOrEqual(PART_LIMIT);
    expect(turn?.prompt).toMatch(/^p+… \(65,5\d\d more characters\)$/);
    const lengths = turn?.parts.map((part) => (part.kind === 'markdown' ? part.text.length : part.kind));
    expect(lengths).toEqual([PART_LIMIT, 5, 'tool']);
    expect(turn?.parts[0]?.kind === 'markdown' && turn.parts[0].text.startsWith('x')).toBe(true);
  });

  it('gives each part an id of its own', () => {
    const history = [
      user('one'),
      assistant('A.', call('a'), call('b')),
      result('a', '1'),
      result('z', '2'),
      assistant('B.'),
    ];
    const ids = turnsOf(heard([...turnStart(1), delta(3, 'C.')], { history })).flatMap(({ parts }) =>
      parts.map(({ id }) => id),
    );
    expect(ids).toHaveLength(6);
    expect(new Set(ids).size).toBe(6);
  });
});

describe('a conversation', () => {
  it('is the saved history, then what happened since', () => {
    const state = heard(
      [
        ...turnStart(10, 'two'),
        delta(12, 'B'),
        event(13, 'usage', { prompt_tokens: 1, completion_tokens: 2 }),
        event(14, 'turn_succeeded'),
      ],
      { history: [user('one'), assistant('A.')], historyCursor: 9 },
    );
    expect(drawn(turnsOf(state))).toEqual([
      ['one', 'markdown A.'],
      ['two', 'markdown B', 'progress 1 tokens in, 2 out'],
    ]);
  });

  it('has thinking, tools and ends in their turns', () => {
    const state = heard([
      ...turnStart(1, 'one'),
      event(3, 'reasoning', { text: 'Hm.' }),
      delta(4, 'I will.'),
      event(5, 'tool_call_started', { id: 'a', name: 'bash', arguments: '{}' }),
      event(6, 'turn_failed', { message: 'no model' }),
      ...turnStart(7, 'two'),
    ]);
    expect(drawn(turnsOf(state))).toEqual([
      ['one', 'thinking Hm.', 'markdown I will.', 'tool bash({}) abandoned —', 'warning no model'],
      ['two'],
    ]);
  });

  it('has the requests that the runtime retained in a marker turn of their own, those decided in one line each', () => {
    const history = [user('one'), assistant('A.', call('a')), result('a', 'ok'), assistant('Done.')];
    const replay = [approval(5, 7), resolved(6, 7), event(7, 'turn_succeeded')];
    const state = heard([...turnStart(8, 'two')], { history, historyCursor: 4, replay });
    expect(drawn(turnsOf(state))).toEqual([
      ['one', 'markdown A.', 'tool bash({}) completed ok', 'markdown Done.'],
      [HISTORY_MARKER, 'resolution bash: ls: Allowed elsewhere.'],
      ['two'],
    ]);
  });

  it('shows an earlier process’s requests as over', () => {
    const before = heard([...turnStart(1), approval(3, 7)], { descriptor: BUSY });
    const restarted = attach({ history: [user('hello')] });
    const state = fold([restarted, ...receive([...turnStart(1, 'two'), approval(3, 7)])], before);
    expect(drawn(turnsOf(state))).toEqual([
      [
        'hello',
        'request bash: ls',
        'resolution The turn ended before this request was answered.',
        'warning The runtime was restarted and this turn was lost.',
        'notice The runtime was restarted. What was shown before is kept.',
      ],
      ['two', 'request bash: ls Allow|Allow for session|Deny'],
    ]);
  });

  it('that nobody knows has no turns', () => {
    expect(turnsOf(fold([]), 'nowhere')).toEqual([]);
    expect(turnsOf(fold([forgotten({ connection: 'c' })], heard(turnStart(1))))).toEqual([]);
  });
});

describe('beyond 500 turns', () => {
  const messages = (turns: number) =>
    Array.from({ length: turns }, (_, at) => [user(`prompt ${at}`), assistant(`answer ${at}`)]).flat();

  it('the omission is said in the place of what is left out', () => {
    const turns = saved(...messages(HISTORY_TURNS_LIMIT + 10));
    expect(turns).toHaveLength(HISTORY_TURNS_LIMIT);
    expect(drawn(turns)[0]).toEqual([
      HISTORY_MARKER,
      "notice 11 earlier turns are not shown. The runtime's own history is complete.",
    ]);
    expect(drawn(turns)[1]).toEqual(['prompt 11', 'markdown answer 11']);
    expect(drawn(turns).at(-1)).toEqual(['prompt 509', 'markdown answer 509']);
  });

  it('nothing is left out, or said, at exactly 500', () => {
    const turns = saved(...messages(HISTORY_TURNS_LIMIT));
    expect(drawn(turns)[0]).toEqual(['prompt 0', 'markdown answer 0']);
    expect(turns).toHaveLength(HISTORY_TURNS_LIMIT);
  });
});

describe('the same input', () => {
  const state = heard([...turnStart(1, 'one'), delta(3, 'A.')], { history: [user('zero'), assistant('Z.')] });

  it('gives the identical turns', () => {
    expect(turnsOf(state)).toBe(turnsOf(state));
  });

  it('gives the identical turns while nothing of it changes', () => {
    const before = turnsOf(state);
    const elsewhere = fold([open('d'), attach({ connection: 'd' }), ...receive([delta(1, 'x')], 'd')], state);
    expect(turnsOf(elsewhere)).toBe(before);
    expect(turnsOf(fold(receive([delta(3, 'again')]), state))).toBe(before);
  });

  it('gives the identical turns of each of two conversations, read in turns', () => {
    const both = fold([open('d'), attach({ connection: 'd' }), ...receive(turnStart(1, 'theirs'), 'd')], state);
    const [c, d] = [turnsOf(both), turnsOf(both, 'd')];
    expect([turnsOf(both), turnsOf(both, 'd')].map((turns, at) => turns === [c, d][at])).toEqual([true, true]);
    expect(drawn(d)).toEqual([['theirs']]);
  });

  it('with another status of a request, or another descriptor, gives other turns', () => {
    const waiting = heard([...turnStart(1), approval(3, 7)], { descriptor: BUSY });
    expect(drawn(turnsOf(waiting))[0]?.[1]).toContain('Allow');
    const answer = { kind: 'approval', request_id: 7, decision: 'allow' } as const;
    const answering = fold([answerRequested({ connection: 'c', answer, label: 'Allow', by: 'person' })], waiting);
    expect(answering.transcript).toBe(waiting.transcript);
    expect(drawn(turnsOf(answering))).toEqual([['hello', 'request bash: ls']]);
    const descriptor = { ...IDLE, actions: { ...IDLE.actions, respond: false } };
    const mute = fold([described({ connection: 'c', descriptor })], waiting);
    expect(drawn(turnsOf(mute))).toEqual([['hello', 'request bash: ls']]);
    expect(drawn(turnsOf(waiting))[0]?.[1]).toContain('Allow');
  });
});
