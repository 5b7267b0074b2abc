import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import type { RuntimeEvent } from '../../src/protocol/frontend-v2-events.js';
import { PART_LIMIT } from '../../src/selectors/bounds.js';
import { endCursor, selectNewParts, startCursor, type PartCursor } from '../../src/selectors/newParts.js';
import type { ChatPart } from '../../src/selectors/parts.js';
import { replayRefused } from '../../src/store/connections.js';
import type { RootState } from '../../src/store/state.js';
import { PAGE_SIZE, type Transcript } from '../../src/store/transcript.js';
import { submitRequested } from '../../src/store/turn.js';
import { turnEnded } from '../../src/store/verdicts.js';
import { approval, delta, event, resolved, turnStart } from '../doubles/runtime.js';
import { attach, BUSY, fold, heard, IDLE, open, receive, transcriptOf } from '../store/conversation.js';
import { tell, turns } from '../store/turns.js';

const start = (sequence: number, id: string) =>
  event(sequence, 'tool_call_started', { id, name: 'bash', arguments: '' });
const complete = (sequence: number, id: string) => event(sequence, 'tool_call_completed', { id, output: id });
const read = (state: RootState, cursor: PartCursor, turn?: string) => selectNewParts(state, 'c', cursor, turn);
const all = (state: RootState) => read(state, startCursor(state, 'c')).parts;
const brief = (parts: readonly ChatPart[]) =>
  parts.map((part) => {
    if (part.kind === 'tool') return `${part.callId} ${part.phase}`;
    return 'text' in part ? `${part.kind} ${part.text}` : part.kind;
  });

/** What a person sees in the end of parts that came in pieces: text put together, a tool as it was given last. */
function whole(parts: readonly ChatPart[]): readonly unknown[] {
  const seen = new Map<string, ChatPart>();
  for (const part of parts) {
    const before = seen.get(part.id);
    const isText = part.kind === 'markdown' || part.kind === 'thinking';
    const text = before && 'text' in before && isText ? before.text + part.text : undefined;
    seen.set(part.id, text === undefined ? part : ({ ...part, text } as ChatPart));
  }
  return [...seen.values()];
}

/** What is seen, in its order: text put together, and of calls their ends, those at one place in no order. */
function order(parts: readonly ChatPart[]): readonly string[] {
  const seen: { readonly id: string; readonly lines: readonly string[] }[] = [];
  for (const part of parts) {
    if (part.kind === 'tool' && part.phase === 'started') continue;
    const id = part.kind === 'tool' ? 'ends' : part.id;
    const last = seen.at(-1);
    const line = part.kind === 'markdown' && last?.id === id ? part.text : (brief([part])[0] ?? '');
    if (last?.id === id) seen.splice(-1, 1, { id, lines: [...last.lines, line] });
    else seen.push({ id, lines: [line] });
  }
  return seen.map(({ id, lines }) => (id === 'ends' ? [...lines].sort().join() : lines.join('')));
}

describe('a reader', () => {
  it('gets of streamed text only what is new', () => {
    const first = heard([delta(1, 'Hel')]);
    const one = read(first, startCursor(first, 'c'));
    expect(brief(one.parts)).toEqual(['markdown Hel']);
    expect(read(first, one.cursor).parts).toEqual([]);
    const second = fold(receive([delta(2, 'lo'), delta(3, '.')]), first);
    const two = read(second, one.cursor);
    expect(brief(two.parts)).toEqual(['markdown lo.']);
    expect(two.parts[0]?.id).toBe(one.parts[0]?.id);
  });

  it('gets a text that was finished after it had read all of it no second time', () => {
    const first = heard([delta(1, 'Hello.')]);
    const { cursor } = read(first, startCursor(first, 'c'));
    const second = fold(receive([event(2, 'turn_completed'), delta(3, 'More.')]), first);
    expect(brief(read(second, cursor).parts)).toEqual(['markdown More.']);
  });

  it('gets an escape sequence that is parted at a reading neither half nor twice', () => {
    const first = heard([delta(1, 'red: \u001b[3')]);
    const one = read(first, startCursor(first, 'c'));
    const second = fold(receive([delta(2, '1mRED')]), first);
    const two = read(second, one.cursor);
    expect(brief([...one.parts, ...two.parts])).toEqual(['markdown red: ', 'markdown RED']);
  });

  it('gets what it held back once nothing more can come', () => {
    const first = heard([delta(1, 'a\ud83d')]);
    const one = read(first, startCursor(first, 'c'));
    expect(brief(one.parts)).toEqual(['markdown a']);
    const second = fold(receive([event(2, 'turn_completed')]), first);
    expect(brief(read(second, one.cursor).parts)).toEqual(['markdown \ufffd']);
  });

  it('gets each call when it starts and when it ends, and one that both did since as ended', () => {
    const first = heard([...turnStart(1), start(3, 'a'), start(4, 'b')]);
    const one = read(first, startCursor(first, 'c'));
    expect(brief(one.parts)).toEqual(['a started', 'b started']);
    const second = fold(receive([complete(5, 'b'), start(6, 'c'), complete(7, 'c')]), first);
    const two = read(second, one.cursor);
    expect(brief(two.parts)).toEqual(['b completed', 'c completed']);
    const third = fold(receive([event(8, 'turn_interrupted')]), second);
    expect(brief(read(third, two.cursor).parts)).toEqual(['a abandoned', 'notice Interrupted.']);
  });

  it('gets the end of a call where it happened, though it comes only once', () => {
    const state = heard([
      start(1, 'a'),
      delta(2, 'meanwhile'),
      start(3, 'b'),
      complete(4, 'a'),
      delta(5, 'then'),
      complete(6, 'b'),
    ]);
    expect(brief(all(state))).toEqual([
      'a started',
      'markdown meanwhile',
      'b started',
      'a completed',
      'markdown then',
      'b completed',
    ]);
  });

  it('keeps its calls in mind across texts', () => {
    const first = heard([start(1, 'a'), delta(2, 'one')]);
    const one = read(first, startCursor(first, 'c'));
    const second = fold(receive([event(3, 'turn_completed'), delta(4, 'two')]), first);
    const two = read(second, one.cursor);
    const third = fold(receive([complete(5, 'a')]), second);
    expect(brief(read(third, two.cursor).parts)).toEqual(['a completed']);
  });

  it('that comes late gets nothing of before', () => {
    const first = heard([...turnStart(1), delta(3, 'old'), start(4, 'a')]);
    const late = endCursor(first, 'c');
    expect(read(first, late).parts).toEqual([]);
    const second = fold(receive([complete(5, 'a'), delta(6, 'new')]), first);
    expect(brief(read(second, late).parts)).toEqual(['markdown new']);
  });

  it('that comes while text streams gets what streams from then on', () => {
    const first = heard([delta(1, 'old ')]);
    const late = endCursor(first, 'c');
    const second = fold(receive([delta(2, 'and on'), event(3, 'turn_completed'), delta(4, 'new')]), first);
    expect(brief(read(second, late).parts)).toEqual(['markdown and on', 'markdown new']);
  });

  it('of a connection that nobody knows gets nothing', () => {
    const state = fold([]);
    expect(selectNewParts(state, 'nowhere', startCursor(state, 'nowhere'))).toEqual({
      parts: [],
      cursor: endCursor(state, 'nowhere'),
    });
  });
});

describe('a reader of one turn', () => {
  const ours = submitRequested({ connection: 'c', turnId: 'mine', prompt: 'hello', at: 0 });
  const mine = fold([ours, ...receive([...turnStart(1), delta(3, 'For me.')])], heard([]));
  const theirs = receive([event(4, 'turn_succeeded'), ...turnStart(5, 'theirs'), delta(7, 'For them.')]);

  it('stops behind the end of its turn', () => {
    const both = fold(theirs, mine);
    const { parts, cursor } = read(both, startCursor(both, 'c'), 'mine');
    expect(brief(parts)).toEqual(['markdown For me.']);
    expect(brief(read(both, cursor).parts)).toEqual(['markdown For them.']);
  });

  it('gets nothing more however often it comes back', () => {
    const both = fold(theirs, mine);
    const { cursor } = read(both, startCursor(both, 'c'), 'mine');
    const again = read(both, cursor, 'mine');
    expect(again.parts).toEqual([]);
    expect(read(both, again.cursor, 'mine').parts).toEqual([]);
    const other = both.turn['c']?.current;
    expect(brief(read(both, again.cursor, other?.phase === 'running' ? other.turnId : '').parts)).toEqual([
      'markdown For them.',
    ]);
  });

  it('gets the end of a turn that only we can tell', () => {
    const over = fold(
      [turnEnded({ connection: 'c', turnId: 'mine', outcome: 'failed', message: 'lost' }), ...theirs.slice(1)],
      mine,
    );
    expect(brief(read(over, startCursor(over, 'c'), 'mine').parts)).toEqual(['markdown For me.', 'warning lost']);
  });
});

describe('a conversation that starts over', () => {
  it('is history, not news: its reader goes on behind what is there', () => {
    const before = heard([...turnStart(1), delta(3, 'Hi'), start(4, 'a')]);
    const { cursor } = read(before, startCursor(before, 'c'));
    const other = attach({
      descriptor: { ...IDLE, sessionId: 'session-2' },
      replay: [...turnStart(1, 'p'), delta(3, 'Other')],
    });
    const after = fold([other], before);
    const moved = read(after, cursor);
    expect(moved.parts).toEqual([]);
    expect(moved.cursor).toEqual(endCursor(after, 'c'));
    const more = fold(receive([event(4, 'turn_completed'), delta(5, 'New')]), after);
    expect(brief(read(more, moved.cursor).parts).slice(-1)).toEqual(['markdown New']);
  });

  it('with the first snapshot after a gap has ids of its own', () => {
    const refused = replayRefused({ connection: 'c', message: 'm', at: 0 });
    const before = fold([open(), refused, ...receive([...turnStart(1), delta(3, 'Hi')])]);
    const after = fold([attach({ descriptor: BUSY, replay: [...turnStart(1), delta(3, 'Hi')] })], before);
    const ids = (state: RootState) => all(state).map(({ id }) => id);
    expect(ids(after).filter((id) => ids(before).includes(id))).toEqual([]);
  });
});

const cuts = fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 60 });

describe('a reader that comes at any time', () => {
  property.prop([turns(3), cuts], { numRuns: 300 })(
    'has read in the end what one reads that comes once',
    (conversation, steps) => {
      const { events } = tell(conversation);
      let state = heard([]);
      let cursor = startCursor(state, 'c');
      const pieces: ChatPart[] = [];
      for (let at = 0, step = 0; at < events.length; step++) {
        const size = 1 + (steps[step % steps.length] ?? 0);
        state = fold(receive(events.slice(at, at + size)), state);
        at += size;
        const news = read(state, cursor);
        expect(read(state, news.cursor)).toEqual({ parts: [], cursor: news.cursor });
        pieces.push(...news.parts);
        cursor = news.cursor;
      }
      const once = all(state);
      expect(whole(pieces)).toEqual(whole(once));
      expect(order(pieces)).toEqual(order(once));
      expect(JSON.parse(JSON.stringify(cursor))).toEqual(cursor);
    },
  );

  const nasty = fc.string({
    unit: fc.constantFrom(
      'a',
      '\n',
      '\r',
      '😀',
      '\ud83d',
      '\ude00',
      '\u001b',
      '[',
      '3',
      'm',
      ']',
      '\u0007',
      '\u0000',
      '\u202e',
    ),
    maxLength: 8,
  });
  property.prop([fc.array(nasty, { maxLength: 40 }), cuts], { numRuns: 300 })(
    'has read the same clean text, wherever it was cut',
    (texts, steps) => {
      const events: readonly RuntimeEvent[] = [
        ...texts.map((text, at) => delta(at + 1, text)),
        event(texts.length + 1, 'turn_completed'),
      ];
      let state = heard([]);
      let cursor = startCursor(state, 'c');
      let text = '';
      for (let at = 0, step = 0; at < events.length; step++) {
        const size = 1 + (steps[step % steps.length] ?? 0);
        state = fold(receive(events.slice(at, at + size)), state);
        at += size;
        const news = read(state, cursor);
        text += news.parts.map((part) => (part.kind === 'markdown' ? part.text : '')).join('');
        cursor = news.cursor;
      }
      const once = all(heard([delta(1, texts.join('')), event(2, 'turn_completed')]));
      expect(text).toBe(once.map((part) => (part.kind === 'markdown' ? part.text : '')).join(''));
    },
  );

  property.prop([fc.array(fc.integer({ min: 1, max: 30_000 }), { minLength: 8, maxLength: 20, size: 'max' })], {
    numRuns: 30,
    endOnFailure: true,
  })('gets text beyond 64 KiB in next parts, none of them longer, nothing lost', (lengths) => {
    let state = heard([]);
    let cursor = startCursor(state, 'c');
    const pieces: ChatPart[] = [];
    lengths.forEach((length, at) => {
      state = fold(receive([delta(at + 1, `${String.fromCharCode(97 + at).repeat(length - 1)}\n`)]), state);
      const news = read(state, cursor);
      pieces.push(...news.parts);
      cursor = news.cursor;
    });
    const texts = whole(pieces) as readonly { readonly id: string; readonly text: string }[];
    expect(texts.map(({ text }) => text).join('')).toBe(
      lengths.map((length, at) => `${String.fromCharCode(97 + at).repeat(length - 1)}\n`).join(''),
    );
    expect(texts.filter(({ text }) => text.length > PART_LIMIT)).toEqual([]);
    expect(texts.map(({ id }) => id)).toEqual(texts.map((_, at) => `0.0.${at}`));
  });
});

/** The transcript, counting every entry and every piece of text that is taken out of it. */
function watched(transcript: Transcript): { readonly transcript: Transcript; readonly taken: () => number } {
  let taken = 0;
  const counting = <T extends object>(items: T, inner: (item: unknown) => unknown): T =>
    new Proxy(items, {
      get: (target, key, receiver) => {
        const value = Reflect.get(target, key, receiver) as unknown;
        if (typeof key !== 'string' || !/^\d+$/.test(key)) return value;
        taken += 1;
        return inner(value);
      },
    });
  const asIs = (item: unknown) => item;
  const pages = counting(transcript.pages, (page) => counting(page as object, asIs));
  const { open } = transcript;
  const text = open && {
    ...open.text,
    blocks: counting(open.text.blocks, asIs),
    segments: counting(open.text.segments, asIs),
  };
  return { transcript: { ...transcript, pages, open: open && text && { ...open, text } }, taken: () => taken };
}

describe('the cost of a reading', () => {
  /** How much is taken out of a conversation of so many entries and so much text to read the news. */
  function cost(entries: number, texts: number, news: readonly RuntimeEvent[]): number {
    const usages = Array.from({ length: entries }, (_, at) => event(at + 1, 'usage', { prompt_tokens: at }));
    const deltas = Array.from({ length: texts }, (_, at) => delta(entries + at + 1, 'x'.repeat(500)));
    const before = heard([...usages, ...deltas]);
    const { cursor } = read(before, startCursor(before, 'c'));
    const after = fold(receive(news), before);
    const { transcript, taken } = watched(transcriptOf(after));
    const state = { ...after, transcript: { c: transcript } };
    expect(read(state, cursor).parts.length).toBeGreaterThan(0);
    return taken();
  }

  it('[defect P36] of a delta is that of the delta, whatever the conversation holds', () => {
    const news = [delta(100_000, 'y')];
    expect(cost(0, 20, news)).toBeLessThanOrEqual(4);
    expect(cost(20 * PAGE_SIZE, 2000, news)).toBeLessThanOrEqual(4);
  });

  it('of new entries is that of these, whatever the conversation holds', () => {
    const news = Array.from({ length: 10 }, (_, at) => event(100_000 + at, 'usage', { prompt_tokens: at }));
    const few = cost(5, 1, news);
    expect(few).toBeLessThan(60);
    expect(cost(20 * PAGE_SIZE + 5, 1, news)).toBeLessThanOrEqual(few);
  });

  it('of the end of a call that started long ago is that of the call', () => {
    const usages = Array.from({ length: 5000 }, (_, at) => event(at + 2, 'usage', { prompt_tokens: at }));
    const before = heard([start(1, 'a'), ...usages]);
    const { cursor } = read(before, startCursor(before, 'c'));
    const after = fold(receive([complete(10_000, 'a')]), before);
    const { transcript, taken } = watched(transcriptOf(after));
    expect(brief(read({ ...after, transcript: { c: transcript } }, cursor).parts)).toEqual(['a completed']);
    expect(taken()).toBeLessThan(10);
  });

  it('is seen by what watches: a reading from the start costs all there is', () => {
    const usages = Array.from({ length: 1000 }, (_, at) => event(at + 1, 'usage', { prompt_tokens: at }));
    const { transcript, taken } = watched(transcriptOf(heard(usages)));
    all({ ...heard(usages), transcript: { c: transcript } });
    expect(taken()).toBeGreaterThan(1000);
  });
});

it('a request is drawn when it comes, and how it stands at each reading', () => {
  const waiting = heard([...turnStart(1), approval(3, 7)], { descriptor: BUSY });
  const one = read(waiting, startCursor(waiting, 'c'));
  expect(one.parts).toMatchObject([{ kind: 'request', answers: [{}, {}, {}] }]);
  const answered = fold(receive([resolved(4, 7)]), waiting);
  expect(brief(read(answered, one.cursor).parts)).toEqual(['resolution Allowed elsewhere.']);
  expect(all(answered)).toMatchObject([{ kind: 'request', answers: [] }, { kind: 'resolution' }]);
});
