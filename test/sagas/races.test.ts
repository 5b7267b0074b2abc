import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { policyChosen } from '../../src/store/permissions.js';
import { answerRequested } from '../../src/store/requests.js';
import { interruptRequested, submitRequested } from '../../src/store/turn.js';
import { approval, delta, DESCRIPTOR, event, resolved, RuntimeDouble, turnStart } from '../doubles/runtime.js';
import { settle, Window } from '../support/window.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Two facts meet: each of them first, with all that follows from it or with nothing in between. */
const MEETINGS = [
  { meeting: 'the first, then the second', swapped: false, atOnce: false },
  { meeting: 'the second, then the first', swapped: true, atOnce: false },
  { meeting: 'both at once, the first ahead', swapped: false, atOnce: true },
  { meeting: 'both at once, the second ahead', swapped: true, atOnce: true },
] as const;

type Meeting = (typeof MEETINGS)[number];

async function meet({ swapped, atOnce }: Meeting, first: () => void, second: () => void): Promise<void> {
  const [ahead, behind] = swapped ? [second, first] : [first, second];
  ahead();
  if (!atOnce) await settle();
  behind();
  await settle();
}

/** Two conversations of one window. In both a turn runs and request 7 waits; what meets, meets in `c`. */
async function twoConversations(asking = true) {
  const other = new RuntimeDouble();
  const window = await new Window().attach();
  const { app, runtime } = window;
  window.open('d', other);
  await settle();
  const turnId = window.submit();
  app.dispatch(submitRequested({ connection: 'd', turnId: 'theirs', prompt: 'hello', at: 0 }));
  runtime.stream.send(...turnStart(1), ...(asking ? [approval(3, 7)] : []));
  other.stream.send(...turnStart(1), approval(3, 7));
  await settle();
  return {
    window,
    runtime,
    answer: (decision: string) => {
      const given = { kind: 'approval', request_id: 7, decision } as const;
      app.dispatch(answerRequested({ connection: 'c', answer: given, label: decision, by: 'person' }));
    },
    stop: () => {
      app.dispatch(interruptRequested({ connection: 'c', turnId, at: 0 }));
    },
    approveAll: () => {
      app.dispatch(policyChosen({ connection: 'c', policy: 'allow' }));
    },
    answers: () => runtime.calls.filter((call) => call.startsWith('respond')),
    /** Nothing of what met in `c` reached the other conversation. */
    expectOtherUntouched: () => {
      expect([other.count('respond'), other.count('interrupt'), window.request(7, 'd')]).toEqual([
        0,
        0,
        { phase: 'pending', problem: null },
      ]);
      expect(app.getState().turn['d']?.current).toMatchObject({ phase: 'running', turnId: 'theirs' });
    },
  };
}

describe.each(MEETINGS)('$meeting', (meeting) => {
  it('[defect C39, P15] an answer, and one given elsewhere: theirs counts, ours is sent once at most, the turn goes on', async () => {
    const { window, runtime, answer, answers, expectOtherUntouched } = await twoConversations();
    runtime.refuse('respond', 'not_found');
    await meet(
      meeting,
      () => {
        answer('allow');
      },
      () => {
        runtime.stream.send(resolved(4, 7, 'deny'));
      },
    );
    expect(answers()).toEqual(meeting.swapped && !meeting.atOnce ? [] : ['respond 7 allow']);
    expect(window.request(7)).toMatchObject({ phase: 'answered', by: 'elsewhere' });
    expect(window.said).toContain('Denied elsewhere.');
    expect(window.phase).toBe('running');
    runtime.stream.send(delta(5, 'So be it.'), event(6, 'turn_succeeded'));
    await settle();
    expect([window.endings, window.text]).toEqual([['mine-1 succeeded'], 'So be it.']);
    expectOtherUntouched();
  });

  it('[defect C39, C40] an answer, and the end of the turn: sent once at most, nothing waits, the turn is over once', async () => {
    const { window, runtime, answer, answers, expectOtherUntouched } = await twoConversations();
    await meet(
      meeting,
      () => {
        answer('allow');
      },
      () => {
        runtime.stream.send(event(4, 'turn_succeeded'));
      },
    );
    expect(answers()).toEqual(meeting.swapped && !meeting.atOnce ? [] : ['respond 7 allow']);
    expect(window.request(7)?.phase).toMatch(/^(?:answered|withdrawn)$/);
    expect([window.endings, window.phase]).toEqual([['mine-1 succeeded'], 'idle']);
    const sent = answers().length;
    answer('deny');
    await settle();
    expect(answers()).toHaveLength(sent);
    expectOtherUntouched();
  });

  it('[defect P20] Stop, and an answer: one answer is sent and one interrupt, to this turn alone', async () => {
    const { window, runtime, answer, stop, answers, expectOtherUntouched } = await twoConversations();
    await meet(meeting, stop, () => {
      answer('allow');
    });
    const [given = '', ...more] = answers();
    expect([given, more]).toEqual([meeting.swapped || meeting.atOnce ? 'respond 7 allow' : 'respond 7 deny', []]);
    expect(runtime.count('interrupt')).toBe(1);
    runtime.stream.send(resolved(4, 7, given.replace('respond 7 ', '')), event(5, 'turn_interrupted'));
    await settle();
    expect([window.endings, window.phase]).toEqual([['mine-1 interrupted'], 'idle']);
    expect(window.request(7)?.phase).toBe('answered');
    expectOtherUntouched();
  });

  it('[defect P19, D61] Stop, and the end of the turn: it is over once, as it ended, and the next turn is not stopped', async () => {
    const { window, runtime, stop, expectOtherUntouched } = await twoConversations(false);
    await meet(meeting, stop, () => {
      runtime.stream.send(event(3, 'turn_succeeded'));
    });
    const interrupts = meeting.swapped && !meeting.atOnce ? 0 : 1;
    expect(runtime.count('interrupt')).toBe(interrupts);
    expect([window.endings, window.phase]).toEqual([['mine-1 succeeded'], 'idle']);
    window.submit('next');
    runtime.stream.send(...turnStart(4, 'next'), approval(6, 9));
    await settle(10_000);
    expect([window.phase, window.request(9)?.phase]).toEqual(['running', 'pending']);
    expect(runtime.count('interrupt')).toBe(interrupts);
    expect(runtime.count('openEvents')).toBe(1);
    expectOtherUntouched();
  });

  it.each([
    ['holds it too', true],
    ['was taken before it', false],
  ])(
    '[defect P4, P10] a snapshot, and live events, where the snapshot %s: the text is whole, and it asks once',
    async (_, isLate) => {
      const { window, runtime, expectOtherUntouched } = await twoConversations(false);
      const known = [...turnStart(1), delta(3, 'one ')];
      const live = [delta(4, 'two '), approval(5, 7)];
      runtime.stream.send(delta(3, 'one '));
      await settle();
      runtime.descriptor = { ...DESCRIPTOR, turnState: 'busy' };
      runtime.snapshot = { history: [], historyCursor: 0, replay: isLate ? [...known, ...live] : known };
      const arrive = runtime.hold('attach');
      runtime.stream.end();
      await settle(1_000);
      expect(runtime.streams).toHaveLength(2);
      await meet(meeting, arrive, () => {
        runtime.stream.send(...live);
      });
      expect(window.text).toBe('one two ');
      expect(window.parts.filter(({ kind }) => kind === 'request')).toHaveLength(1);
      runtime.stream.send(resolved(6, 7), delta(7, 'three'), event(8, 'turn_succeeded'));
      await settle(1_000);
      expect([window.text, window.endings, window.phase]).toEqual(['one two three', ['mine-1 succeeded'], 'idle']);
      expectOtherUntouched();
    },
  );

  it('[defect C47] automatic approval switched on, and a request: it is approved once, and only here', async () => {
    const { window, runtime, approveAll, answers, expectOtherUntouched } = await twoConversations(false);
    await meet(meeting, approveAll, () => {
      runtime.stream.send(approval(3, 7));
    });
    expect(answers()).toEqual(['respond 7 allow']);
    runtime.stream.send(resolved(4, 7));
    await settle();
    expect(window.said).toEqual(['auto-approved: bash: ls']);
    expectOtherUntouched();
  });

  it('[defect C39, C47] automatic approval switched on, and a click: whichever came first is the one answer', async () => {
    const { window, runtime, answer, approveAll, answers, expectOtherUntouched } = await twoConversations();
    await meet(meeting, approveAll, () => {
      answer('deny');
    });
    const decision = meeting.swapped ? 'deny' : 'allow';
    expect(answers()).toEqual([`respond 7 ${decision}`]);
    runtime.stream.send(resolved(4, 7, decision), approval(5, 8));
    await settle();
    expect(window.said).toEqual([meeting.swapped ? 'Denied.' : 'auto-approved: bash: ls']);
    expect(answers().slice(1)).toEqual(['respond 8 allow']);
    expectOtherUntouched();
  });
});
