import type { UnknownAction } from '@reduxjs/toolkit';
import { describe, expect, it } from 'vitest';
import type { Turn } from '../../src/store/turn.js';
import {
  inputAccepted,
  interruptAcknowledged,
  interruptFailed,
  interruptRequested,
  submitRequested,
} from '../../src/store/turn.js';
import { turnEnded, turnLeft } from '../../src/store/verdicts.js';
import type { RootState } from '../../src/store/state.js';
import { approval, delta, event, turnStart } from '../doubles/runtime.js';
import { endingsOf, fold, heard, HOSTED, receive, storyOf } from './conversation.js';

const submit = (turnId = 'mine', prompt = 'hello') => submitRequested({ connection: 'c', turnId, prompt, at: 1 });
const accepted = (turnId = 'mine') => inputAccepted({ connection: 'c', turnId });
const stop = (turnId = 'mine') => interruptRequested({ connection: 'c', turnId, at: 2 });
const acknowledged = (turnId = 'mine') => interruptAcknowledged({ connection: 'c', turnId, at: 3 });
const stopFailed = (turnId = 'mine') => interruptFailed({ connection: 'c', turnId, problem: 'The line broke.', at: 4 });
const ended = (turnId = 'mine', message = 'refused') =>
  turnEnded({ connection: 'c', turnId, outcome: 'failed', message });
const ends = (sequence: number) => event(sequence, 'turn_succeeded');

const after = (...actions: readonly (UnknownAction | readonly UnknownAction[])[]): RootState =>
  fold(actions.flat(), heard([]));
const current = (state: RootState): Turn | undefined => state.turn['c']?.current;
const phase = (state: RootState) => current(state)?.phase;

describe('a prompt of ours', () => {
  it('is on its way, then its turn runs, then it is over', () => {
    expect(phase(after(submit()))).toBe('submitting');
    expect(current(after(submit(), accepted()))).toMatchObject({ phase: 'submitting', accepted: true });
    expect(current(after(submit(), receive(turnStart(1))))).toMatchObject({
      phase: 'running',
      turnId: 'mine',
      mine: true,
    });
    expect(endingsOf(after(submit(), receive([...turnStart(1), ends(3)]), accepted()))).toEqual(['mine succeeded']);
  });

  it('is ours by its text or by the acknowledgement, whichever there is', () => {
    const theirs = receive(turnStart(1, 'expanded by the runtime'));
    expect(current(after(submit(), accepted(), theirs))).toMatchObject({ phase: 'running', turnId: 'mine' });
    expect(current(after(submit('mine', ' hello\n'), receive(turnStart(1))))).toMatchObject({ turnId: 'mine' });
  });

  it('is overtaken by a turn of another client, until that is over', () => {
    const overtaken = after(submit(), receive(turnStart(1, 'theirs')));
    expect(current(overtaken)).toMatchObject({ phase: 'submitting', overtaken: true });
    expect(current(fold(receive([ends(3)]), overtaken))).toMatchObject({ phase: 'submitting', overtaken: false });
    expect(endingsOf(fold(receive([ends(3)]), overtaken))).toEqual([]);
  });

  it('is overtaken too where the other prompt came before ours and its start came after', () => {
    const [prompt, start] = receive(turnStart(1, 'theirs')) as [UnknownAction, UnknownAction];
    const overtaken = after(prompt, submit(), start);
    expect(current(overtaken)).toMatchObject({ phase: 'submitting', overtaken: true });
    const refused = fold([ended()], overtaken);
    expect(current(refused)).toMatchObject({ phase: 'running', mine: false });
  });

  it('that was accepted after it was overtaken waits for the other end, which may come behind the answer', () => {
    const state = after(submit(), receive(turnStart(1, 'theirs')), accepted());
    expect(phase(state)).toBe('submitting');
    const over = fold(receive([ends(3)]), state);
    expect(endingsOf(over)).toEqual([]);
    const begun = fold(receive(turnStart(4)), over);
    expect(current(begun)).toMatchObject({ phase: 'running', turnId: 'mine', mine: true });
    expect(endingsOf(fold(receive([ends(6)]), begun))).toEqual(['mine succeeded']);
  });

  it('that is refused while another client’s turn runs leaves that one running', () => {
    const state = after(submit(), receive(turnStart(1, 'theirs')), ended());
    expect(current(state)).toMatchObject({ phase: 'running', mine: false });
    expect(endingsOf(state)).toEqual(['mine failed refused']);
    expect(phase(fold(receive([ends(3)]), state))).toBe('idle');
  });

  it('changes nothing while something runs', () => {
    const running = after(submit(), receive(turnStart(1)));
    expect(fold([submit('second')], running)).toBe(running);
    expect(endingsOf(fold([submit('second'), ended('second', 'still running')], running))).toEqual([
      'second failed still running',
    ]);
    expect(phase(fold([submit('second'), ended('second')], running))).toBe('running');
  });

  it('is over once, whoever says so', () => {
    const once = after(submit(), ended());
    expect(fold([ended(), ended('mine', 'again')], once).turn).toEqual(once.turn);
    expect(fold(receive([ends(1)]), once).turn).toEqual(once.turn);
  });

  it('is not begun by an acknowledgement of another', () => {
    expect(after(submit(), accepted('other'))).toEqual(after(submit()));
    expect(after(accepted('other'))).toEqual(after());
    const running = after(submit(), receive(turnStart(1)));
    expect(fold([accepted()], running)).toBe(running);
  });
});

describe('Stop', () => {
  it('of a turn that runs is asked for, then acknowledged', () => {
    const running = after(submit(), receive(turnStart(1)));
    const asked = fold([stop()], running);
    expect(current(asked)).toEqual({ phase: 'interrupting', turnId: 'mine', mine: true, at: 2, started: true });
    expect(current(fold([acknowledged()], asked))).toEqual({ phase: 'settling', turnId: 'mine', mine: true, at: 3 });
  });

  it('of a prompt on its way waits until its turn has begun', () => {
    const early = after(submit(), stop());
    expect(current(early)).toMatchObject({ phase: 'interrupting', mine: true, started: false });
    expect(current(fold([accepted()], early))).toMatchObject({ phase: 'interrupting', started: true });
    expect(current(fold(receive(turnStart(1)), early))).toMatchObject({ phase: 'interrupting', started: true });
    const theirEnd = fold(receive([event(1, 'user_message', { text: 'theirs' }), ends(2)]), early);
    expect(current(theirEnd)).toMatchObject({ phase: 'interrupting', started: false });
  });

  it('of a turn of another client is not ours', () => {
    const state = after(receive(turnStart(1)), stop('seen-2'));
    expect(current(state)).toMatchObject({ phase: 'interrupting', turnId: 'seen-2', mine: false });
    expect(state.turn['c']?.ended).toEqual([]);
    expect(fold(receive([event(3, 'turn_interrupted')]), state).turn['c']?.ended).toEqual([
      { turnId: 'seen-2', mine: false, outcome: 'interrupted', message: '' },
    ]);
  });

  it('[fault 24] twice, of nothing, or of another turn changes nothing', () => {
    const asked = after(submit(), receive(turnStart(1)), stop());
    expect(fold([stop()], asked)).toBe(asked);
    const settling = fold([acknowledged()], asked);
    expect(fold([stop(), acknowledged(), stopFailed()], settling)).toBe(settling);
    const idle = after();
    expect(fold([stop(), acknowledged(), stopFailed()], idle)).toBe(idle);
    const running = after(submit(), receive(turnStart(1)));
    expect(fold([stop('other'), acknowledged('mine'), stopFailed('mine')], running)).toBe(running);
  });

  it('that did not get through leaves the turn running, with the reason', () => {
    const failed = after(submit(), receive(turnStart(1)), stop(), stopFailed());
    expect(current(failed)).toEqual({
      phase: 'running',
      turnId: 'mine',
      mine: true,
      at: 4,
      problem: 'The line broke.',
    });
    expect(phase(fold([stop()], failed))).toBe('interrupting');
  });

  it.each([
    ['interrupting', [stop()]],
    ['settling', [stop(), acknowledged()]],
  ])('makes an interruption of a hosted turn’s failure while %s', (_, stopping) => {
    const failure = receive([event(3, 'turn_failed', { message: 'aborted by user' })]);
    const hosted = fold(
      [submit(), ...receive(turnStart(1)), ...stopping, ...failure],
      heard([], { descriptor: HOSTED }),
    );
    expect(storyOf(hosted)).toEqual(['> hello', 'end interrupted']);
    expect(endingsOf(hosted)).toEqual(['mine interrupted']);
    const native = after(submit(), receive(turnStart(1)), stopping, failure);
    expect(endingsOf(native)).toEqual(['mine failed aborted by user']);
  });

  it('makes nothing of the success of a hosted turn that was quicker', () => {
    const events = receive([...turnStart(1)]);
    const state = fold([submit(), ...events, stop(), ...receive([ends(3)])], heard([], { descriptor: HOSTED }));
    expect(endingsOf(state)).toEqual(['mine succeeded']);
  });
});

describe('a turn of another client', () => {
  it('[fault 28] is not begun by a start without a prompt', () => {
    expect(phase(after(receive([event(1, 'turn_started')])))).toBe('idle');
    expect(phase(after(receive([...turnStart(1), ends(3), event(4, 'turn_started')])))).toBe('idle');
  });

  it('is followed under a name that says where it was seen', () => {
    expect(current(after(receive(turnStart(1))))).toEqual({
      phase: 'running',
      turnId: 'seen-2',
      mine: false,
      at: 2_000,
      problem: null,
    });
  });

  it('goes on at a second start', () => {
    const running = after(receive(turnStart(1)));
    expect(current(fold(receive([event(3, 'turn_started')]), running))).toEqual(current(running));
  });
});

describe('the end of a turn', () => {
  it('is remembered of the newest 32', () => {
    const turns = Array.from({ length: 40 }, (_, at) => [...turnStart(3 * at + 1, `p${at}`), ends(3 * at + 3)]).flat();
    const ids = (after(receive(turns)).turn['c']?.ended ?? []).map(({ turnId }) => turnId);
    expect(ids).toHaveLength(32);
    expect([ids[0], ids[31]]).toEqual(['seen-26', 'seen-119']);
  });

  it('takes its requests along', () => {
    const state = after(submit(), receive([...turnStart(1), approval(3, 7), ends(4)]));
    expect(state.requests['c']?.[7]?.status).toEqual({ phase: 'withdrawn', reason: 'turnEnded' });
  });

  it('that we find out ourselves takes them along too, and is shown', () => {
    const state = after(submit(), receive([...turnStart(1), delta(3, 'Hi'), approval(4, 7)]), ended());
    expect(state.requests['c']?.[7]?.status).toEqual({ phase: 'withdrawn', reason: 'turnEnded' });
    expect(storyOf(state)).toEqual(['> hello', 'text Hi', 'end failed refused']);
  });

  it('of a turn that is not the current one leaves the conversation as it is', () => {
    const running = after(submit(), receive([...turnStart(1), approval(3, 7)]));
    const state = fold([ended('other')], running);
    expect(state.transcript).toBe(running.transcript);
    expect(state.requests).toBe(running.requests);
    expect(endingsOf(state)).toEqual(['other failed refused']);
  });

  it('of one that we only leave says so, and leaves the runtime’s requests and calls alone', () => {
    const left = after(
      submit(),
      receive([...turnStart(1), event(3, 'tool_call_started', { id: 'a', name: 'bash' }), approval(4, 7)]),
      turnLeft({ connection: 'c', turnId: 'mine', message: 'The window was closed.' }),
    );
    expect(endingsOf(left)).toEqual(['mine failed The window was closed.']);
    expect(left.requests['c']?.[7]?.status.phase).toBe('pending');
    const later = fold(receive([event(5, 'tool_call_completed', { id: 'a', output: 'ok' }), ends(6)]), left);
    expect(storyOf(later).slice(0, 3)).toEqual([
      '> hello',
      'tool a bash() completed ok',
      'end failed The window was closed.',
    ]);
    expect(endingsOf(later)).toEqual(['mine failed The window was closed.']);
  });
});
