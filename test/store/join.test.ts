import { describe, expect, it } from 'vitest';
import { selectNewParts, startCursor } from '../../src/selectors/newParts.js';
import { described, opened, replayRefused } from '../../src/store/connections.js';
import { policyChosen } from '../../src/store/permissions.js';
import { answerAcknowledged, answerRequested } from '../../src/store/requests.js';
import { inputAccepted, interruptAcknowledged, interruptRequested, submitRequested } from '../../src/store/turn.js';
import type { RootState } from '../../src/store/state.js';
import { approval, delta, event, resolved, turnStart } from '../doubles/runtime.js';
import {
  assistant,
  attach,
  BUSY,
  endingsOf,
  fold,
  heard,
  HOSTED,
  IDLE,
  open,
  receive,
  storyOf,
  transcriptOf,
  user,
} from './conversation.js';

const SUCCEEDED = 'turn_succeeded';
const statusOf = (state: RootState, id: number) => state.requests['c']?.[id]?.status;
const requestsDrawn = (state: RootState) =>
  selectNewParts(state, 'c', startCursor(state, 'c')).parts.filter((part) => part.kind === 'request');
const gap = replayRefused({ connection: 'c', message: 'The replay does not reach back.', at: 0 });

describe('the first snapshot', () => {
  it('is the saved history, then the replay, then what comes live', () => {
    const history = [user('one'), assistant('A.')];
    const replay = [event(5, SUCCEEDED), ...turnStart(6, 'two'), delta(8, 'B')];
    const state = heard([delta(8, 'B'), delta(9, '.'), event(10, SUCCEEDED)], {
      descriptor: BUSY,
      history,
      historyCursor: 4,
      replay,
    });
    expect(transcriptOf(state)).toMatchObject({ cursor: 10, sessionId: 'session-1', epoch: 0, generation: 0, history });
    expect(storyOf(state)).toEqual(['end succeeded', '> two', 'text B.', 'end succeeded']);
  });

  it('leaves what the history holds out of the replay', () => {
    const state = heard([], { historyCursor: 4, replay: [delta(3, 'old'), delta(4, 'old'), delta(5, 'new')] });
    expect(storyOf(state)).toEqual(['text new']);
  });

  it('takes the place of what came live before it, without a repeat or a loss', () => {
    const before = fold([open(), gap, ...receive([...turnStart(1), delta(3, 'Hi')])]);
    expect(storyOf(before)).toEqual(['note gap', '> hello', 'text Hi']);
    const state = fold([attach({ descriptor: BUSY, replay: [...turnStart(1), delta(3, 'Hi')] })], before);
    expect(storyOf(state)).toEqual(['> hello', 'text Hi']);
    expect(transcriptOf(state).generation).toBe(1);
    expect(endingsOf(fold(receive([event(4, SUCCEEDED)]), state))).toEqual(['seen-2 succeeded']);
  });

  it('ends no turn that came live by the end of the one before, and begins none that is over', () => {
    const first = [...turnStart(1, 'one'), delta(3, 'A.'), event(4, SUCCEEDED)];
    const second = [...turnStart(5, 'two'), delta(7, 'B')];
    const mine = submitRequested({ connection: 'c', turnId: 'mine', prompt: 'two', at: 0 });
    const before = fold([open(), gap, ...receive(first), mine, ...receive(second)]);
    expect(endingsOf(before)).toEqual(['seen-2 succeeded']);
    const history = [user('one'), assistant('A.')];
    const replay = [event(4, SUCCEEDED), ...second];
    const running = fold([attach({ descriptor: BUSY, history, historyCursor: 3, replay })], before);
    expect(running.turn).toEqual(before.turn);
    expect(storyOf(running)).toEqual(['end succeeded', '> two', 'text B']);
    const over = fold([gap, ...receive([...first, ...second, event(8, SUCCEEDED)])], fold([open()]));
    const told = [...first, ...second, event(8, SUCCEEDED)];
    const idle = fold([attach({ replay: told })], over);
    expect(idle.turn).toEqual(over.turn);
    expect(storyOf(idle)).toEqual(['> one', 'text A.', 'end succeeded', '> two', 'text B', 'end succeeded']);
  });

  it('shows a request that came live before it, still to be answered', () => {
    const before = fold([open(), gap, ...receive([...turnStart(1), approval(3, 7)])]);
    const state = fold([attach({ descriptor: BUSY, replay: [...turnStart(1), approval(3, 7)] })], before);
    expect(requestsDrawn(state)).toMatchObject([{ requestId: 7, answers: [{}, {}, {}] }]);
    expect(statusOf(state, 7)).toEqual({ phase: 'pending', problem: null });
  });

  it('shows how a request was answered that came live before it, and by whom', () => {
    const answer = { kind: 'approval', request_id: 7, decision: 'allow' } as const;
    const before = fold([
      open(),
      gap,
      ...receive([...turnStart(1), approval(3, 7)]),
      answerRequested({ connection: 'c', answer, label: 'Allow', by: 'policy' }),
      ...receive([resolved(4, 7)]),
    ]);
    const replay = [approval(3, 7), resolved(4, 7)];
    const state = fold([attach({ descriptor: BUSY, replay: [...turnStart(1), ...replay] })], before);
    const { parts } = selectNewParts(state, 'c', startCursor(state, 'c'));
    expect(parts.map((part) => (part.kind === 'resolution' ? part.text : part.kind))).toEqual([
      'request',
      'auto-approved: bash: ls',
    ]);
  });

  it('draws nothing of a request that came live before it and that nothing tells of any more', () => {
    const before = fold([open(), gap, ...receive([approval(3, 7)])]);
    const state = fold([attach({ historyCursor: 9 })], before);
    expect(statusOf(state, 7)).toEqual({ phase: 'withdrawn', reason: 'turnEnded' });
    expect(selectNewParts(state, 'c', startCursor(state, 'c')).parts).toEqual([]);
  });

  it('makes nothing of a runtime’s requests that nothing holds any more', () => {
    const replay = [approval(5, 7), approval(6, 8), resolved(7, 8), event(8, SUCCEEDED)];
    const state = heard([], { historyCursor: 4, replay });
    expect(statusOf(state, 7)).toEqual({ phase: 'withdrawn', reason: 'turnEnded' });
    expect(statusOf(state, 8)?.phase).toBe('answered');
  });

  it('of a busy runtime without an event of the turn finds a turn running', () => {
    const state = heard([], { descriptor: BUSY });
    expect(state.turn['c']?.current).toMatchObject({ phase: 'running', mine: false });
    const ended = fold(receive([delta(1, 'on'), event(2, SUCCEEDED)]), state);
    expect(endingsOf(ended)).toEqual(['found-1000 succeeded']);
  });

  it('of a busy runtime whose replay ends with a turn’s end finds none', () => {
    const replay = [...turnStart(1), event(3, SUCCEEDED), event(4, 'turn_completed')];
    expect(heard([], { descriptor: BUSY, replay }).turn['c']?.current.phase).toBe('idle');
  });

  it('for a connection that nobody opened is no connection', () => {
    expect(fold([attach()])).toEqual(fold([]));
  });
});

describe('a later snapshot of the same process', () => {
  it('brings what was missed and repeats nothing', () => {
    const before = heard([...turnStart(1), delta(3, 'One ')]);
    const replay = [...turnStart(1), delta(3, 'One '), delta(4, 'two '), delta(5, 'three')];
    const state = fold([attach({ descriptor: BUSY, replay }), ...receive([delta(5, 'three'), delta(6, '.')])], before);
    expect(storyOf(state)).toEqual(['> hello', 'text One two three.']);
    expect(transcriptOf(state).generation).toBe(0);
  });

  it('with a lower history cursor is no restart: hosted it is always 0', () => {
    const before = heard([...turnStart(1), delta(3, 'Hi'), event(4, SUCCEEDED)], { descriptor: HOSTED });
    const replay = [...turnStart(1), delta(3, 'Hi'), event(4, SUCCEEDED)];
    const state = fold([attach({ descriptor: HOSTED, historyCursor: 0, replay })], before);
    expect(storyOf(state)).toEqual(['> hello', 'text Hi', 'end succeeded']);
    expect(transcriptOf(state)).toMatchObject({ cursor: 4, epoch: 0 });
  });

  it('of an idle native runtime reaches as far as its last terminal event', () => {
    const before = heard([...turnStart(1), approval(3, 7), resolved(4, 7), event(7, SUCCEEDED)]);
    const replay = [approval(5, 7), resolved(6, 7), event(7, SUCCEEDED)];
    const state = fold([attach({ history: [user('hello')], historyCursor: 4, replay })], before);
    expect(state.transcript).toEqual(before.transcript);
    expect(transcriptOf(state).epoch).toBe(0);
  });

  it('draws a request of earlier again only if it is another one', () => {
    const before = heard([...turnStart(1), approval(3, 7)]);
    const replay = [...turnStart(1), approval(13, 7), approval(14, 8)];
    const state = fold([attach({ descriptor: BUSY, historyCursor: 0, replay })], before);
    expect(requestsDrawn(state).map(({ requestId }) => requestId)).toEqual([7, 8]);
  });

  it('of an idle native runtime withdraws what waited outside of a turn', () => {
    const before = heard([approval(1, 7)]);
    expect(statusOf(before, 7)?.phase).toBe('pending');
    const state = fold([attach({ replay: [approval(1, 7)] })], before);
    expect(statusOf(state, 7)).toEqual({ phase: 'withdrawn', reason: 'turnEnded' });
    expect(requestsDrawn(state)).toMatchObject([{ answers: [] }]);
  });

  it('of an idle hosted runtime leaves what waits: such a runtime keeps it', () => {
    const before = heard([approval(1, 7)], { descriptor: HOSTED });
    const state = fold([attach({ descriptor: HOSTED, replay: [approval(1, 7)] })], before);
    expect(statusOf(state, 7)?.phase).toBe('pending');
  });

  it('that says idle leaves a turn to its own terminal event', () => {
    const before = heard([...turnStart(1), approval(3, 7)]);
    const state = fold([attach({ descriptor: IDLE, replay: [...turnStart(1), approval(3, 7)] })], before);
    expect(state.turn['c']?.current.phase).toBe('running');
    expect(statusOf(state, 7)?.phase).toBe('pending');
  });
});

describe('a snapshot of a restarted process', () => {
  const before = heard([
    ...turnStart(1),
    delta(3, 'Hi'),
    event(4, SUCCEEDED),
    ...turnStart(5, 'more'),
    event(7, 'tool_call_started', { id: 'a', name: 'bash', arguments: '{}' }),
    approval(8, 1),
  ]);
  const history = [user('hello'), assistant('Hi'), user('more')];

  it('keeps what was shown, ends what ran and says so', () => {
    const state = fold([attach({ history })], before);
    expect(storyOf(state)).toEqual([
      '> hello',
      'text Hi',
      'end succeeded',
      '> more',
      'tool a bash({}) abandoned',
      'end failed The runtime was restarted and this turn was lost.',
      'note restarted',
    ]);
    expect(transcriptOf(state)).toMatchObject({ cursor: 0, epoch: 1, generation: 0, history: [] });
    expect(endingsOf(state)).toEqual([
      'seen-2 succeeded',
      'seen-6 failed The runtime was restarted and this turn was lost.',
    ]);
  });

  it('[fault 14] follows the sequences and request ids of the new process from their beginning', () => {
    const state = fold([attach({ history }), ...receive([...turnStart(1, 'again'), approval(3, 1)])], before);
    expect(statusOf(state, 1)).toEqual({ phase: 'pending', problem: null });
    expect(requestsDrawn(state)).toMatchObject([
      { requestId: 1, answers: [], unanswerable: 'This request belongs to an earlier process of the runtime.' },
      { requestId: 1, answers: [{}, {}, {}] },
    ]);
  });

  it('[fault 14] does not call its turns what turns of the old one were called', () => {
    const ended = fold([attach({ history }), ...receive([...turnStart(1, 'again'), event(3, SUCCEEDED)])], before);
    const ids = (ended.turn['c']?.ended ?? []).map(({ turnId }) => turnId);
    expect(ids).toHaveLength(3);
    expect(new Set(ids).size).toBe(3);
  });

  it('is told from its last replayed event, however low that is', () => {
    const replay = [...turnStart(1, 'again'), delta(3, 'New')];
    const state = fold([attach({ descriptor: BUSY, history, replay })], before);
    expect(storyOf(state).slice(-3)).toEqual(['note restarted', '> again', 'text New']);
    expect(transcriptOf(state).cursor).toBe(3);
  });

  it('of a hosted runtime keeps nothing waiting', () => {
    const waiting = heard([...turnStart(1), approval(3, 7)], { descriptor: HOSTED });
    const state = fold([attach({ descriptor: HOSTED })], waiting);
    expect(state.requests['c']).toEqual({});
    expect(requestsDrawn(state)[0]?.answers).toEqual([]);
  });
});

describe('a snapshot of another conversation', () => {
  it('is asked about by its own requests: who answered those of the former one does not answer its', () => {
    const descriptor = { ...IDLE, sessionId: 'session-2' };
    const before = fold([policyChosen({ connection: 'c', policy: 'allow' })], heard([]));
    const state = fold([attach({ descriptor })], before);
    expect(state.permissions).toEqual({});
  });

  const other = { ...IDLE, sessionId: 'session-2' };

  it('starts over: what was shown belongs to the other one', () => {
    const before = heard([...turnStart(1), delta(3, 'Hi'), approval(4, 7)]);
    const state = fold([attach({ descriptor: other, history: [user('other')], historyCursor: 2 })], before);
    expect(storyOf(state)).toEqual([]);
    expect(transcriptOf(state)).toMatchObject({ cursor: 2, sessionId: 'session-2', epoch: 1, generation: 1 });
    expect(transcriptOf(state).history).toEqual([user('other')]);
    expect(state.requests['c']).toEqual({});
    expect(endingsOf(state)).toEqual(['seen-2 failed The runtime now serves another conversation.']);
  });

  it('starts over even where nothing had been shown', () => {
    const state = fold([attach({ descriptor: other })], heard([]));
    expect(transcriptOf(state).generation).toBe(1);
  });
});

describe('a gap', () => {
  it('is said once, however often the runtime refuses', () => {
    const refused = fold([gap, gap, ...receive([delta(1, 'live')]), gap], fold([open()]));
    expect(storyOf(refused)).toEqual(['note gap', 'text live']);
    expect(refused.connections['c']?.phase).toMatchObject({ name: 'attached', gap: 'The replay does not reach back.' });
  });

  it('is said again after a snapshot came in between', () => {
    const state = fold([gap, attach(), gap], heard([]));
    expect(storyOf(state)).toEqual(['note gap', 'note gap']);
  });

  it('of a connection that nobody opened is not said', () => {
    expect(fold([gap])).toEqual(fold([]));
  });
});

describe('what we asked for, when a snapshot comes', () => {
  const ours = fold(
    [submitRequested({ connection: 'c', turnId: 'mine', prompt: 'hello', at: 0 })],
    heard([], { descriptor: IDLE }),
  );

  it('is begun by the replay, though the answer to the prompt never came', () => {
    const state = fold([attach({ descriptor: BUSY, replay: turnStart(1) })], ours);
    expect(state.turn['c']?.current).toMatchObject({ phase: 'running', turnId: 'mine', mine: true });
  });

  it('is neither begun nor ended by a snapshot that knows nothing of it, be it of another process', () => {
    const state = fold([attach()], ours);
    expect(state.turn['c']?.current).toMatchObject({ phase: 'submitting', turnId: 'mine' });
    const known = fold(
      [submitRequested({ connection: 'c', turnId: 'mine', prompt: 'two', at: 0 })],
      heard([delta(1, 'x')]),
    );
    const restarted = fold([attach()], known);
    expect(storyOf(restarted)).toEqual(['text x', 'note restarted']);
    expect(restarted.turn['c']?.current).toMatchObject({ phase: 'submitting', turnId: 'mine' });
  });

  it('was stopped: the hosted turn’s failure is that interruption', () => {
    const stopping = fold(
      [
        inputAccepted({ connection: 'c', turnId: 'mine' }),
        ...receive(turnStart(1)),
        interruptRequested({ connection: 'c', turnId: 'mine', at: 0 }),
        interruptAcknowledged({ connection: 'c', turnId: 'mine', at: 0 }),
      ],
      fold([described({ connection: 'c', descriptor: HOSTED })], ours),
    );
    const replay = [...turnStart(1), event(3, 'turn_failed', { message: 'aborted' }), event(4, 'turn_completed')];
    const state = fold([attach({ descriptor: HOSTED, replay })], stopping);
    expect(endingsOf(state)).toEqual(['mine interrupted']);
  });

  it('was answered: an answer on its way stays so until the runtime says more', () => {
    const answer = { kind: 'approval', request_id: 7, decision: 'allow' } as const;
    const waiting = fold(
      [answerRequested({ connection: 'c', answer, label: 'Allow', by: 'person' })],
      heard([...turnStart(1), approval(3, 7)]),
    );
    const state = fold([attach({ descriptor: BUSY, replay: [...turnStart(1), approval(3, 7)] })], waiting);
    expect(statusOf(state, 7)?.phase).toBe('answering');
    const done = fold([answerAcknowledged({ connection: 'c', requestId: 7 })], state);
    expect(statusOf(done, 7)).toMatchObject({ phase: 'answered', by: 'person', label: 'Allow', resolution: null });
  });
});

describe('a conversation that an earlier window heard', () => {
  const heardBefore = (sequence: number, prompt: string | null | undefined, sessionId = 'session-1') => {
    const credential = { kind: 'secret', key: 'k' } as const;
    const target = { baseUrl: 'http://127.0.0.1:1', clientId: 'me', credential, permissions: null };
    const running = prompt === undefined ? null : { prompt };
    return opened({ connection: 'c', origin: 'api', target, before: { heard: { sessionId, sequence, running } } });
  };
  const history = [user('one'), assistant('A.'), user('two')];
  const LOST = ['> unsaved', 'end failed The runtime was restarted and this turn was lost.', 'note restarted'];

  it.each([
    ['that runs on', heardBefore(3, 'two'), []],
    ['that was restarted in the middle of a turn', heardBefore(9, 'two'), ['note restarted']],
    ['that was restarted in the middle of a turn that nobody knows', heardBefore(9, null), ['note restarted']],
    ['that was restarted before the prompt of its turn was saved', heardBefore(9, 'unsaved'), LOST],
    ['that was restarted while nothing ran', heardBefore(9, undefined), []],
    ['that is another one by now', heardBefore(3, 'two', 'session-0'), ['note replaced']],
    ['that is another one, and nothing ran', heardBefore(3, undefined, 'session-0'), []],
  ])('%s', (_, before, notes) => {
    const state = fold([before, attach({ history, historyCursor: 4 })]);
    expect(storyOf(state)).toEqual(notes);
    expect(transcriptOf(state)).toMatchObject({ cursor: 4, history });
    expect(state.turn['c']?.current.phase ?? 'idle').toBe('idle');
    // What comes from now on is this process's.
    const again = attach({ descriptor: BUSY, history, historyCursor: 4, replay: turnStart(5, 'three') });
    const later = fold([...receive(turnStart(5, 'three')), again], state);
    expect(storyOf(later)).toEqual([...notes, '> three']);
  });

  it('keeps what it knows of before through another handover', () => {
    const state = fold([heardBefore(9, 'two'), open(), attach({ history, historyCursor: 4 })]);
    expect(storyOf(state)).toEqual(['note restarted']);
  });
});
