import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import type { RuntimeEvent } from '../../src/protocol/frontend-v2-events.js';
import type { RootState } from '../../src/store/state.js';
import { wholeText } from '../../src/store/streamedText.js';
import { endOf, entryAt, PAGE_SIZE, type Entry } from '../../src/store/transcript.js';
import { delta, event, turnStart } from '../doubles/runtime.js';
import { entriesOf, fold, heard, receive, storyOf, transcriptOf } from './conversation.js';

const start = (sequence: number, id: string | null, name: string | null = 'bash', args = '{}') =>
  event(sequence, 'tool_call_started', { id, name, arguments: args });
const complete = (sequence: number, id: string | null, output = 'ok', name: string | null = null) =>
  event(sequence, 'tool_call_completed', { id, name, output, is_error: false });

describe('the transcript', () => {
  it('[fault 11] applies each event once, however often, late or with gaps it is delivered', () => {
    const events = [delta(1, 'one '), delta(1, 'one '), delta(4, 'two'), delta(2, 'late'), delta(4, 'two')];
    const state = heard([...events, event(9, 'turn_completed'), event(3, 'usage')]);
    expect(storyOf(state)).toEqual(['text one two']);
    expect(transcriptOf(state).cursor).toBe(9);
  });

  it('[fault 11] is the same object after a repeat', () => {
    const state = heard([delta(1, 'one')]);
    expect(fold(receive([delta(1, 'one'), event(1, 'request', { request: { id: 1, kind: 'x' } })]), state)).toBe(state);
  });

  it('moves on at an empty delta and shows nothing', () => {
    const state = heard([delta(1, '')]);
    expect([transcriptOf(state).cursor, endOf(transcriptOf(state))]).toEqual([1, 0]);
  });

  it('keeps text and reasoning apart, and text before a tool from text after it', () => {
    const state = heard([
      event(1, 'reasoning', { text: 'Hm' }),
      event(2, 'thinking', { text: '.' }),
      delta(3, 'I'),
      delta(4, ' look.'),
      start(5, 'a'),
      complete(6, 'a'),
      delta(7, 'Done.'),
    ]);
    expect(entriesOf(state).map(({ kind }) => kind)).toEqual(['reasoning', 'text', 'tool', 'text']);
    expect(storyOf(state)).toEqual(['text I look.', 'tool a bash({}) completed ok', 'text Done.']);
  });

  it('parts the texts of two round-trips, though nothing stands between them', () => {
    const state = heard([delta(1, 'One.'), event(2, 'turn_completed'), delta(3, 'Two.')]);
    expect(entriesOf(state).map(({ kind }) => kind)).toEqual(['text', 'text']);
  });
});

describe('a call', () => {
  it('keeps the name of its start, whatever its end says', () => {
    const named = ['tool a Write({}) completed ok'];
    expect(storyOf(heard([start(1, 'a', 'Write'), complete(2, 'a')]))).toEqual(named);
    expect(storyOf(heard([start(1, 'a', 'Write'), complete(2, 'a', 'ok', 'tool')]))).toEqual(named);
  });

  it('takes the name of its end when its start had none', () => {
    expect(storyOf(heard([start(1, 'a', null), complete(2, 'a', 'ok', 'bash')]))).toEqual([
      'tool a bash({}) completed ok',
    ]);
  });

  it('[fault 12] whose end comes first is filled in by its start', () => {
    const state = heard([complete(1, 'a'), start(2, 'a', 'bash', '{"n":1}')]);
    expect(storyOf(state)).toEqual(['tool a bash({"n":1}) completed ok']);
    expect(transcriptOf(state).openCalls).toEqual([]);
  });

  it('that is started twice is one call', () => {
    expect(storyOf(heard([start(1, 'a'), start(2, 'a', null, '{"n":2}'), complete(3, 'a')]))).toEqual([
      'tool a bash({"n":2}) completed ok',
    ]);
  });

  it('runs beside others, each ended by its own id', () => {
    const state = heard([start(1, 'a'), start(2, 'b'), start(3, 'c'), complete(4, 'b', 'B'), complete(5, 'a', 'A')]);
    expect(storyOf(state)).toEqual([
      'tool a bash({}) completed A',
      'tool b bash({}) completed B',
      'tool c bash({}) started',
    ]);
  });

  it('without an id is ended by the next end without one, of its own name where there is a name', () => {
    const state = heard([
      start(1, null, 'read'),
      start(2, null, 'write'),
      complete(3, null, 'R', 'read'),
      complete(4, null, 'W'),
    ]);
    expect(storyOf(state)).toEqual(['tool event-1 read({}) completed R', 'tool event-2 write({}) completed W']);
  });

  it('whose end nothing began is shown as it is', () => {
    expect(storyOf(heard([complete(1, null, 'orphan')]))).toEqual(['tool event-1 ?() completed orphan']);
  });

  it('whose id comes again in a later turn is another call', () => {
    const state = heard([start(1, 'a'), complete(2, 'a', 'one'), start(3, 'a'), complete(4, 'a', 'two')]);
    expect(storyOf(state)).toEqual(['tool a bash({}) completed one', 'tool a bash({}) completed two']);
  });

  it('that has not ended when the turn does never will', () => {
    const state = heard([
      ...turnStart(1),
      start(3, 'a'),
      start(4, 'b'),
      complete(5, 'b'),
      event(6, 'turn_interrupted'),
      complete(7, 'a', 'too late'),
    ]);
    expect(storyOf(state)).toEqual([
      '> hello',
      'tool a bash({}) abandoned',
      'tool b bash({}) completed ok',
      'end interrupted',
      'tool a ?() completed too late',
    ]);
  });
});

describe('a turn’s end', () => {
  it('is written down once, though it is told twice', () => {
    const state = heard([...turnStart(1), event(3, 'turn_succeeded'), event(4, 'turn_failed', { message: 'm' })]);
    expect(storyOf(state)).toEqual(['> hello', 'end succeeded']);
  });

  it('finishes what streams', () => {
    const state = heard([...turnStart(1), delta(3, 'Hel'), event(4, 'turn_interrupted'), delta(5, 'lo')]);
    expect(storyOf(state)).toEqual(['> hello', 'text Hel', 'end interrupted', 'text lo']);
  });
});

type Step = {
  readonly kind: 'text' | 'reasoning' | 'start' | 'end' | 'usage' | 'round' | 'later';
  readonly text: string;
};

const steps = (length: number) =>
  fc.array(
    fc.record({
      kind: fc.constantFrom<Step['kind']>('text', 'text', 'reasoning', 'start', 'end', 'usage', 'round', 'later'),
      text: fc.string({ unit: 'grapheme', maxLength: 8 }),
    }),
    { minLength: length === 0 ? 0 : length / 2, maxLength: length, size: 'max' },
  );

/** The steps as events; an end is that of the oldest call that has not ended. */
function eventsOf(all: readonly Step[]): readonly RuntimeEvent[] {
  const running: string[] = [];
  return all.map(({ kind, text }, at) => {
    const sequence = at + 1;
    switch (kind) {
      case 'text':
        return delta(sequence, text);
      case 'reasoning':
        return event(sequence, 'reasoning', { text });
      case 'start':
        running.push(`call-${sequence}`);
        return start(sequence, `call-${sequence}`, 'bash', text);
      case 'end':
        return complete(sequence, running.shift() ?? `none-${sequence}`, text);
      case 'usage':
        return event(sequence, 'usage', { prompt_tokens: at });
      case 'round':
        return event(sequence, 'turn_completed');
      case 'later':
        return event(sequence, 'a_later_kind', { text });
    }
  });
}

const textIn = (entries: readonly Entry[], kind: 'text' | 'reasoning') =>
  entries.map((entry) => (entry.kind === kind ? wholeText(entry.text) : '')).join('');

describe('any events', () => {
  property.prop([steps(60)], { numRuns: 300 })(
    'leave all text in its order, and each run of it in one entry',
    (all) => {
      const entries = entriesOf(heard(eventsOf(all)));
      for (const kind of ['text', 'reasoning'] as const) {
        expect(textIn(entries, kind)).toBe(all.map((step) => (step.kind === kind ? step.text : '')).join(''));
      }
      // An empty delta parts nothing.
      const runs = all.filter(({ kind, text }) => !(text === '' && (kind === 'text' || kind === 'reasoning')));
      const expected = runs.filter(
        ({ kind }, at) => (kind === 'text' || kind === 'reasoning') && runs[at - 1]?.kind !== kind,
      );
      expect(entries.filter(({ kind }) => kind === 'text' || kind === 'reasoning')).toHaveLength(expected.length);
    },
  );

  property.prop([steps(60), fc.array(fc.tuple(fc.nat(), fc.nat({ max: 30 })), { maxLength: 40 })], { numRuns: 300 })(
    '[fault 11] repeated and late in any places leave what they leave when each comes once',
    (all, repeats) => {
      const events = eventsOf(all);
      const delivered = events.flatMap((each, at) => [
        each,
        ...repeats.filter(([place]) => place % events.length === at).flatMap(([, back]) => events[at - back] ?? []),
      ]);
      expect(heard(delivered)).toEqual(heard(events));
    },
  );

  // Shrinking a failure of this size would take longer than anybody waits: its seed is printed.
  property.prop([steps(700)], { numRuns: 30, endOnFailure: true })(
    'lie in pages of one size, and a full page is copied only when a call in it ends',
    (all) => {
      const events = eventsOf(all);
      let state: RootState = heard([]);
      for (const each of events) {
        const before = transcriptOf(state);
        const { openCalls } = before;
        state = fold(receive([each]), state);
        const after = transcriptOf(state);
        const ends =
          each.kind === 'tool_call_completed' ? openCalls.find(({ callId }) => callId === each.callId) : undefined;
        before.pages.forEach((page, at) => {
          if (page.length < PAGE_SIZE) return;
          const touched = ends !== undefined && Math.floor(ends.at / PAGE_SIZE) === at;
          if (touched) expect(after.pages[at]).toHaveLength(PAGE_SIZE);
          else expect(after.pages[at]).toBe(page);
        });
      }
      const transcript = transcriptOf(state);
      expect(transcript.pages.slice(0, -1).every((page) => page.length === PAGE_SIZE)).toBe(true);
      expect(transcript.count).toBe(transcript.pages.flat().length);
      transcript.pages.flat().forEach((entry, at) => {
        expect(entryAt(transcript, at)).toBe(entry);
      });
      expect(entryAt(transcript, endOf(transcript))).toBeUndefined();
      expect(entryAt(transcript, endOf(transcript) + PAGE_SIZE)).toBeUndefined();
    },
  );

  it('never touch a full page again, and nothing but the open text at a delta', () => {
    const turns = Array.from({ length: PAGE_SIZE }, (_, at) => [
      delta(2 * at + 1, `t${at}`),
      event(2 * at + 2, 'turn_completed'),
    ]).flat();
    const full = heard([...turns, delta(2 * PAGE_SIZE + 1, 'x')]);
    const more = fold(receive([delta(2 * PAGE_SIZE + 2, 'y')]), full);
    expect(transcriptOf(full).pages).toHaveLength(1);
    expect(transcriptOf(more).pages).toBe(transcriptOf(full).pages);
    expect(more.turn).toBe(full.turn);
    expect(more.requests).toBe(full.requests);
    expect(more.connections).toBe(full.connections);
  });
});
