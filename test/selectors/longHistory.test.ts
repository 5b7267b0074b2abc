import { describe, expect, it } from 'vitest';
import type { HistoryMessage } from '../../src/protocol/frontend-v2.js';
import {
  HISTORY_BLOCKS_LIMIT,
  HISTORY_DETAILS_LIMIT,
  HISTORY_DETAIL_PARTS_LIMIT,
  HISTORY_SAID_PARTS_LIMIT,
  HISTORY_PREVIEW_LIMIT,
  HISTORY_SAID_LIMIT,
  HISTORY_TURNS_LIMIT,
  PART_LIMIT,
} from '../../src/selectors/bounds.js';
import { fallbackOf } from '../../src/selectors/fallback.js';
import { selectHistoryTurns, type HistoryTurn } from '../../src/selectors/historyTurns.js';
import { startCursor } from '../../src/selectors/newParts.js';
import type { ChatPart, ToolPart } from '../../src/selectors/parts.js';
import type { RootState } from '../../src/store/state.js';
import { approval, delta, event, resolved, turnStart } from '../doubles/runtime.js';
import {
  assistant,
  call,
  fold,
  heard,
  HOSTED,
  IDLE,
  receive,
  result,
  system,
  transcriptOf,
  user,
} from '../store/conversation.js';

const KIB = 1024;
const PARTS_LIMIT = HISTORY_SAID_PARTS_LIMIT + HISTORY_DETAIL_PARTS_LIMIT;
const saved = (history: readonly HistoryMessage[]) => heard([], { history, historyCursor: 9 });
const turnsOf = (state: RootState) => selectHistoryTurns(state, 'c');
const partsOf = (turns: readonly HistoryTurn[]) => turns.flatMap(({ parts }) => parts);
const texts = (turns: readonly HistoryTurn[]) =>
  turns.map(({ prompt, parts }) => [prompt, ...parts.map((part) => ('text' in part ? part.text : part.kind))]);
const toolsOf = (turns: readonly HistoryTurn[]) =>
  partsOf(turns).filter((part): part is ToolPart => part.kind === 'tool');

/** One text of an answer, each call in it, and the results; the ids come again in each turn. */
function toolTurn(at: number, calls: number, output: string): readonly HistoryMessage[] {
  const ids = Array.from({ length: calls }, (_, number) => `call_${number}`);
  return [
    user(`prompt ${at}`),
    assistant(`Turn ${at}.`, ...ids.map((id, number) => call(id, '{"n":1}', number % 5 < 3 ? 'bash' : 'edit_file'))),
    ...ids.map((id) => result(id, `${at} ${id} ${output}`)),
    assistant(`Done ${at}.`),
  ];
}
const toolHistory = (turns: number, calls: number, output: string) =>
  Array.from({ length: turns }, (_, at) => toolTurn(at, calls, output)).flat();

function sizeOf(parts: readonly ChatPart[]): number {
  return parts.reduce((size, { editor: _, ...part }) => size + JSON.stringify(part).length, 0);
}
const blocksIn = (parts: readonly ChatPart[]) =>
  parts.flatMap(fallbackOf).reduce((count, { text }) => count + (text.match(/^`{3,}/gm)?.length ?? 0) / 2, 0);

describe('a history of 500 turns of 20 tool results of 64 KiB', () => {
  const state = saved(toolHistory(500, 20, 'x'.repeat(64 * KIB)));
  const turns = turnsOf(state);
  const parts = partsOf(turns);

  it('[defect E65] is shown within the bounds of parts, of blocks and of text', () => {
    expect(turns.length).toBe(HISTORY_TURNS_LIMIT);
    expect(parts.length).toBeLessThanOrEqual(PARTS_LIMIT);
    expect(blocksIn(parts)).toBe(HISTORY_BLOCKS_LIMIT);
    // An editor warns of a leak from 175 on.
    expect(HISTORY_BLOCKS_LIMIT).toBeLessThan(175);
    expect(sizeOf(parts)).toBeLessThan(HISTORY_SAID_LIMIT + HISTORY_DETAILS_LIMIT);
    for (const { input = '', output = '' } of toolsOf(turns)) {
      expect(input.length).toBeLessThanOrEqual(HISTORY_PREVIEW_LIMIT);
      expect(output.length).toBeLessThanOrEqual(HISTORY_PREVIEW_LIMIT);
    }
  });

  it('[defect E65] says of each result how much of it is missing', () => {
    const tools = toolsOf(turns);
    expect(tools).toHaveLength(HISTORY_BLOCKS_LIMIT / 2);
    for (const { output = '' } of tools) {
      const [, kept = '', missing = ''] = /^(.*)… \(([\d,]+) more characters\)$/s.exec(output) ?? [];
      const [, at = '', id = ''] = /^(\d+) (call_\d+) x/.exec(kept) ?? [];
      expect(kept.length + Number(missing.replace(',', ''))).toBe(`${at} ${id} `.length + 64 * KIB);
    }
  });

  it('[defect E65] has the newest calls in full detail, those of older turns in one line, and all that was said', () => {
    expect(turns.map(({ prompt }) => prompt)).toEqual(Array.from({ length: 500 }, (_, at) => `prompt ${at}`));
    const last = turns.at(-1)?.parts ?? [];
    expect(last.map(({ kind }) => kind)).toEqual(['markdown', ...Array.from({ length: 20 }, () => 'tool'), 'markdown']);
    expect(toolsOf(turns).map(({ output = '' }) => output.slice(0, output.indexOf(' x')))).toEqual(
      Array.from({ length: 80 }, (_, at) => `${496 + Math.floor(at / 20)} call_${at % 20}`),
    );
    const folded = '20 tool calls: bash ×12, edit_file ×8 (details not shown)';
    expect(texts(turns.slice(0, 496))).toEqual(
      Array.from({ length: 496 }, (_, at) => [`prompt ${at}`, `Turn ${at}.`, folded, `Done ${at}.`]),
    );
  });

  it('claims of no saved call that it was permitted, or that it ran', () => {
    const told = JSON.stringify([...parts.flatMap(fallbackOf)]);
    expect(/allow|approv|permi|\bran\b/i.exec(told)?.[0]).toBeUndefined();
    expect(toolsOf(turns).every((tool) => tool.saved === true)).toBe(true);
  });

  it('gives each part an id of its own, and the identical turns again', () => {
    expect(new Set(parts.map(({ id }) => id)).size).toBe(parts.length);
    expect(turnsOf(state)).toBe(turns);
  });
});

describe('what is read of a history', () => {
  /** Counts each read of a message's text or of a call's arguments, and of anything at all of a message. */
  function counted(history: readonly HistoryMessage[]) {
    const reads = { texts: 0, all: 0 };
    const watch = <T extends object>(value: T): T =>
      new Proxy(value, {
        get: (target, name) => {
          reads.all += 1;
          if (name === 'text' || name === 'arguments') reads.texts += 1;
          const member: unknown = Reflect.get(target, name);
          return name === 'toolCalls' ? (member as object[]).map(watch) : member;
        },
      });
    return { reads, history: history.map(watch) };
  }
  /** Past the reducers, which have no part in this. */
  function readOf(messages: readonly HistoryMessage[]) {
    const { reads, history } = counted(messages);
    const state = saved([]);
    const transcript = { ...transcriptOf(state), history };
    const turns = selectHistoryTurns({ ...state, transcript: { c: transcript } }, 'c');
    return { ...reads, turns };
  }

  it('[defect E65] grows with what is shown: of turns left out nothing but the role is', () => {
    const [some, many] = [500, 5000].map((turns) => readOf(toolHistory(turns, 4, 'x')));
    if (!some || !many) throw new Error('two were read');
    expect(many.turns).toHaveLength(HISTORY_TURNS_LIMIT);
    expect(many.turns[0]?.parts).toMatchObject([
      { text: "4,501 earlier turns are not shown. The runtime's own history is complete." },
    ]);
    expect(many.texts).toBeLessThanOrEqual(some.texts + 10);
    const left = 4500 * 7;
    expect(many.all - some.all).toBeLessThanOrEqual(left + 100);
  });

  it('grows with the calls of one turn, not with their square', () => {
    const [some, many] = [1000, 8000].map((calls) => readOf(toolHistory(1, calls, 'x')).all);
    expect(many).toBeLessThan((some ?? 0) * 8.5);
    const unanswered = (calls: number) => [
      user('one'),
      ...Array.from({ length: calls }, (_, at) => assistant('', call(`call_${at}`))),
      ...Array.from({ length: calls }, (_, at) => result(`gone_${at}`, 'x')),
    ];
    expect(readOf(unanswered(4000)).all).toBeLessThan(readOf(unanswered(500)).all * 8.5);
  });

  it('leaves results that are not shown unread', () => {
    const { texts: read } = readOf(toolHistory(100, 20, 'x'));
    // Prompts and texts, and what 80 calls gave back and were given; a few reads each.
    expect(read).toBeLessThan(100 * 3 * 4 + 80 * 6);
  });
});

describe('what was said', () => {
  const long = (letter: string) => letter.repeat(290 * KIB);

  it('is never cut: the turn in which the room ends lacks its beginning, and says so', () => {
    const history = Array.from({ length: 10 }, (_, at) => [
      user(`prompt ${at}`),
      assistant(long('a'), call('call_0')),
      result('call_0', 'ok'),
      assistant(long('b')),
    ]).flat();
    const turns = turnsOf(saved([system('You are.'), ...history]));
    const said = (turn: HistoryTurn | undefined) =>
      turn?.parts.map((part) => (part.kind === 'markdown' ? part.text : '')).join('');
    expect(turns.map(({ prompt }) => prompt)).toEqual([null, 'prompt 6', 'prompt 7', 'prompt 8', 'prompt 9']);
    expect(texts(turns)[0]).toEqual([null, "6 earlier turns are not shown. The runtime's own history is complete."]);
    for (const turn of turns.slice(2)) expect(said(turn)).toBe(long('a') + long('b'));
    // 2 MiB hold seven of these texts.
    expect(turns[1]?.parts[0]).toMatchObject({
      text: "The beginning of this turn is not shown (1 part). The runtime's own history is complete.",
    });
    expect(said(turns[1])).toBe(long('b'));
  });

  it('of the newest turn is shown, whatever it takes', () => {
    const huge = 'y'.repeat(HISTORY_SAID_LIMIT + 5);
    const turns = turnsOf(saved([user('one'), assistant('A.'), user('two'), assistant(huge)]));
    expect(texts(turns).slice(0, 1)).toEqual([
      [null, "1 earlier turn is not shown. The runtime's own history is complete."],
    ]);
    expect(turns[1]?.prompt).toBe('two');
    expect(
      partsOf(turns.slice(1))
        .map((part) => ('text' in part ? part.text : ''))
        .join(''),
    ).toBe(huge);
  });

  it('of a newest turn of many parts is shown from its end, and the missing beginning is said', () => {
    const steps = Array.from({ length: 4000 }, (_, at) => [
      assistant(`Step ${at}.`, call(`call_${at}`)),
      result(`call_${at}`, 'ok'),
    ]).flat();
    const [turn, ...others] = turnsOf(saved([user('one'), ...steps]));
    expect(others).toEqual([]);
    expect(turn?.prompt).toBe('one');
    expect(turn?.parts.length).toBeLessThanOrEqual(PARTS_LIMIT);
    const [notice, ...rest] = turn?.parts ?? [];
    expect(notice).toMatchObject({
      kind: 'notice',
      text: expect.stringMatching(
        /^The beginning of this turn is not shown \(\d,\d{3} parts\)\. The runtime's own history is complete\.$/,
      ) as string,
    });
    expect(rest.slice(-3)).toMatchObject([{ kind: 'tool' }, { text: 'Step 3999.' }, { kind: 'tool' }]);
    expect(blocksIn(rest)).toBeLessThanOrEqual(HISTORY_BLOCKS_LIMIT);
    const steady = rest.flatMap((part) => (part.kind === 'markdown' ? [Number(/\d+/.exec(part.text)?.[0])] : []));
    expect(steady).toEqual(Array.from({ length: steady.length }, (_, at) => 4000 - steady.length + at));
  });

  it('is not taken from by details', () => {
    const output = 'x'.repeat(2 * PART_LIMIT);
    const turns = turnsOf(
      heard([
        ...turnStart(1, 'one'),
        delta(3, 'A.'),
        ...Array.from({ length: 40 }, (_, at) => event(4 + at, 'diff_updated', { diff: `+++ b/a.ts\n${output}` })),
        delta(50, 'B.'),
      ]),
    );
    const parts = partsOf(turns);
    expect(turns[0]?.prompt).toBe('one');
    expect(parts.filter(({ kind }) => kind === 'diff')).toHaveLength(Math.floor(HISTORY_DETAILS_LIMIT / PART_LIMIT));
    expect(parts.filter(({ kind }) => kind !== 'diff')).toMatchObject([
      { text: 'A.' },
      { kind: 'notice', text: '24 sets of changes (details not shown)' },
      { text: 'B.' },
    ]);
  });
});

describe('a result', () => {
  it('finds its call in an earlier turn', () => {
    const turns = turnsOf(saved([user('one'), assistant('', call('a')), user('two'), result('a', 'late')]));
    expect(toolsOf(turns)).toMatchObject([{ callId: 'a', name: 'bash', output: 'late' }]);
    expect(turns.map(({ parts }) => parts.length)).toEqual([1, 0]);
  });

  it('counts once, the first of two that answer one call', () => {
    const history = [user('one'), assistant('', call('a')), result('a', 'first'), result('a', 'again')];
    expect(toolsOf(turnsOf(saved(history))).map(({ output }) => output)).toEqual(['first']);
  });

  it('whose call compaction took stands where it is, also behind calls that have theirs', () => {
    const history = [user('one'), assistant('', call('a')), result('a', 'mine'), result('z', 'orphan')];
    expect(toolsOf(turnsOf(saved(history))).map(({ name, output }) => [name, output])).toEqual([
      ['bash', 'mine'],
      ['tool', 'orphan'],
    ]);
  });

  it('that was cut on its way in says what is missing in all', () => {
    const cut = { ...result('a', 'x'.repeat(PART_LIMIT)), omitted: 5_000_000 - PART_LIMIT };
    const [tool] = toolsOf(turnsOf(saved([user('one'), assistant('', call('a')), cut])));
    const [kept = '', missing = ''] = (tool?.output ?? '').split('… (');
    expect(kept.length + Number(missing.replace(/\D/g, ''))).toBe(5_000_000);
  });
});

describe('turns that were seen', () => {
  /** So many turns of 20 calls that were heard of, from `first` on. */
  const seen = (turns: number, first = 1) => {
    let sequence = first;
    return Array.from({ length: turns }, (_, at) => [
      ...turnStart((sequence += 2) - 2, `live ${at}`),
      ...Array.from({ length: 20 }, (_each, number) => [
        event(sequence++, 'tool_call_started', { id: `${at}.${number}`, name: 'bash', arguments: '{}' }),
        event(sequence++, 'tool_call_completed', { id: `${at}.${number}`, name: 'bash', output: 'x'.repeat(64 * KIB) }),
        event(sequence++, 'usage', { prompt_tokens: 1, completion_tokens: 2 }),
      ]).flat(),
      delta(sequence++, `Said ${at}.`),
      event(sequence++, 'turn_succeeded'),
    ]).flat();
  };

  it('[defect E65] count in the same budget as those that were saved, and before them', () => {
    const state = heard(seen(3), { history: toolHistory(10, 20, 'y'.repeat(64 * KIB)) });
    const turns = turnsOf(state);
    const parts = partsOf(turns);
    expect(turns).toHaveLength(13);
    expect(blocksIn(parts)).toBe(HISTORY_BLOCKS_LIMIT);
    expect(toolsOf(turns.slice(-3))).toHaveLength(60);
    expect(toolsOf(turns.slice(-3)).every(({ output = '' }) => output.length <= HISTORY_PREVIEW_LIMIT)).toBe(true);
    expect(toolsOf(turns.slice(0, 10))).toHaveLength(20);
  });

  it('fold into one line, whatever lines of the moment stood in between', () => {
    const turns = turnsOf(heard(seen(6)));
    expect(texts(turns)[0]).toEqual(['live 0', '20 tool calls: bash ×20 (details not shown)', 'Said 0.']);
    expect(partsOf(turns).map(({ kind }) => kind)).toContain('progress');
  });

  it('in front of a cursor are those that are read up to it, within the same bounds', () => {
    const state = heard(seen(6), { history: toolHistory(2, 20, 'y') });
    const all = turnsOf(state);
    const before = { ...startCursor(state, 'c'), at: 22 * 2 + 20 * 2 };
    const until = selectHistoryTurns(state, 'c', before);
    expect(selectHistoryTurns(state, 'c', before)).toBe(until);
    expect(turnsOf(state)).toBe(all);
    expect(until).not.toBe(all);
    expect(until.map(({ prompt }) => prompt)).toEqual(['prompt 0', 'prompt 1', 'live 0', 'live 1']);
    // The same turn is the newest here, and old there.
    expect(toolsOf(until.slice(-1)).length).toBe(20);
    expect(toolsOf(all.filter(({ prompt }) => prompt === 'live 1'))).toEqual([]);
    expect(blocksIn(partsOf(until))).toBeLessThanOrEqual(HISTORY_BLOCKS_LIMIT);
    const none = selectHistoryTurns(state, 'c', startCursor(state, 'c'));
    expect(none.map(({ prompt }) => prompt)).toEqual(['prompt 0', 'prompt 1']);
  });

  it('are counted where they are left out, with those that were saved', () => {
    const chat = (turns: number, first: number) =>
      Array.from({ length: turns }, (_, at) => turnStart(first + 2 * at, `live ${at}`)).flat();
    const history = Array.from({ length: 20 }, (_, at) => user(`prompt ${at}`));
    const turns = turnsOf(heard(chat(600, 1), { history: [assistant('headless'), ...history] }));
    expect(turns).toHaveLength(HISTORY_TURNS_LIMIT);
    expect(texts(turns)[0]?.[1]).toBe("122 earlier turns are not shown. The runtime's own history is complete.");
    expect(turns[1]?.prompt).toBe('live 101');
  });

  it('have their requests in a line too, with what was decided', () => {
    const asked = [...turnStart(1, 'one'), approval(3, 7), resolved(4, 7), event(5, 'turn_succeeded')];
    const turns = turnsOf(heard([...asked, ...seen(5, 6)]));
    expect(texts(turns)[0]).toEqual(['one', '1 request (details not shown)', 'bash: ls: Allowed elsewhere.']);
  });

  it('show a request that waits, though there is room for no detail', () => {
    const waiting = [...seen(5), ...turnStart(1000, 'last'), approval(1002, 9)];
    const many = Array.from({ length: 200 }, (_, at) => [
      event(1003 + 2 * at, 'tool_call_started', { id: `z${at}`, name: 'read', arguments: '{}' }),
      event(1004 + 2 * at, 'tool_call_completed', { id: `z${at}`, name: 'read', output: 'ok' }),
    ]).flat();
    const turns = turnsOf(heard([...waiting, ...many], { descriptor: { ...IDLE, turnState: 'busy' } }));
    const request = turns.at(-1)?.parts.find(({ kind }) => kind === 'request');
    expect(request).toMatchObject({ requestId: 9 });
    expect(request?.kind === 'request' && request.answers.length).toBeGreaterThan(0);
  });
});

describe('a snapshot that is as long as it may be', () => {
  const newest = (messages: number) =>
    Array.from({ length: messages / 2 }, () => [user('one'), assistant('A.')]).flat();
  const notice = [null, "What may have come before is not shown. The runtime's own history is complete."];

  it.each([200, 40, 8])(
    'of %i messages of a native runtime may lack what came before, and that is said',
    (messages) => {
      expect(texts(turnsOf(saved(newest(messages))))[0]).toEqual(notice);
      const orphaned = [...newest(messages).slice(1), user('last')];
      expect(texts(turnsOf(saved(orphaned)))[0]).toEqual([...notice, 'A.']);
    },
  );

  it('that begins with the system prompt, is shorter, or is a hosted runtime’s, lacks nothing', () => {
    expect(turnsOf(saved([system('You are.'), ...newest(200).slice(1)]))[0]?.marker).toBe(true);
    expect(texts(turnsOf(saved([system('You are.'), ...newest(200).slice(1)])))[0]).toEqual([null, 'A.']);
    expect(turnsOf(saved(newest(198)))[0]?.prompt).toBe('one');
    expect(turnsOf(heard([], { history: newest(200), descriptor: HOSTED }))[0]?.prompt).toBe('one');
  });

  it('keeps the bound on turns together with those that were seen', () => {
    const live = Array.from({ length: 400 }, (_, at) => turnStart(1 + 2 * at, `live ${at}`)).flat();
    const state = fold(receive(live), heard([], { history: newest(200) }));
    const turns = turnsOf(state);
    expect(turns).toHaveLength(HISTORY_TURNS_LIMIT);
    expect(texts(turns)[0]?.[1]).toBe("At least 1 earlier turn is not shown. The runtime's own history is complete.");
  });
});
