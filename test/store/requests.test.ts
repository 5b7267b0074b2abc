import type { UnknownAction } from '@reduxjs/toolkit';
import { describe, expect, it } from 'vitest';
import { answerAcknowledged, answerFailed, answerRequested, type Answerer } from '../../src/store/requests.js';
import { requestGone } from '../../src/store/verdicts.js';
import type { RootState } from '../../src/store/state.js';
import { approval, event, resolved, turnStart } from '../doubles/runtime.js';
import { attach, entriesOf, fold, heard, open, receive } from './conversation.js';

const answer = (id: number, decision = 'allow', by: Answerer = 'person', connection = 'c') =>
  answerRequested({ connection, answer: { kind: 'approval', request_id: id, decision }, label: decision, by });
const acknowledged = (requestId: number, connection = 'c') => answerAcknowledged({ connection, requestId });
const failed = (requestId: number) => answerFailed({ connection: 'c', requestId, problem: 'The line broke.' });
const gone = (requestId: number) => requestGone({ connection: 'c', requestId });
const statusOf = (state: RootState, id = 7, connection = 'c') => state.requests[connection]?.[id]?.status;

const waiting = heard([...turnStart(1), approval(3, 7)]);
const after = (...actions: readonly UnknownAction[]) => fold(actions, waiting);
const DECISION = { kind: 'decision', decision: 'allow' };

describe('a request', () => {
  it('waits, is answered, acknowledged and resolved', () => {
    expect(statusOf(waiting)).toEqual({ phase: 'pending', problem: null });
    expect(statusOf(after(answer(7)))).toMatchObject({ phase: 'answering', label: 'allow', by: 'person' });
    const given = { phase: 'answered', label: 'allow', by: 'person', resolution: null };
    expect(statusOf(after(answer(7), acknowledged(7)))).toEqual(given);
    const told = { ...given, resolution: DECISION };
    expect(statusOf(after(answer(7), acknowledged(7), ...receive([resolved(4, 7)])))).toEqual(told);
    expect(statusOf(after(answer(7), ...receive([resolved(4, 7)]), acknowledged(7)))).toEqual(told);
  });

  it('that somebody else answered names nobody here', () => {
    expect(statusOf(after(...receive([resolved(4, 7)])))).toEqual({
      phase: 'answered',
      label: null,
      by: 'elsewhere',
      resolution: DECISION,
    });
  });

  it('[fault 32] that is resolved otherwise than it is being answered here was answered elsewhere', () => {
    expect(statusOf(after(answer(7), ...receive([resolved(4, 7, 'deny')]), acknowledged(7)))).toMatchObject({
      label: null,
      by: 'elsewhere',
    });
    const question = event(3, 'request', { request: { id: 7, kind: 'elicitation', payload: { message: 'm' } } });
    const asked = fold(
      [
        answerRequested({
          connection: 'c',
          answer: { kind: 'elicitation', request_id: 7, action: 'decline', content: null },
          label: 'Decline',
          by: 'person',
        }),
      ],
      heard([...turnStart(1), question]),
    );
    const told = (response: object) =>
      statusOf(fold(receive([event(4, 'request_resolved', { request_id: 7, response })]), asked));
    expect(told({ action: 'decline' })).toMatchObject({ by: 'person' });
    expect(told({ action: 'cancel' })).toMatchObject({ by: 'elsewhere' });
    // Which answer it was is not said: ours is on its way.
    expect(told({})).toMatchObject({ by: 'person' });
  });

  it('[fault 32] takes the first of two answers, and none when it is over', () => {
    expect(statusOf(after(answer(7), answer(7, 'deny')))).toMatchObject({ label: 'allow' });
    const over = after(...receive([resolved(4, 7)]));
    expect(fold([answer(7), acknowledged(7), failed(7), gone(7)], over)).toBe(over);
    expect(fold([acknowledged(7), failed(7)], waiting)).toBe(waiting);
  });

  it('[fault 32] of another connection, or of none, takes no answer', () => {
    const two = fold([open('d'), attach({ connection: 'd' }), ...receive([approval(1, 7)], 'd')], waiting);
    const state = fold([answer(7, 'deny', 'person', 'd'), answer(8), answer(7, 'allow', 'person', 'nowhere')], two);
    expect(statusOf(state)?.phase).toBe('pending');
    expect(statusOf(state, 7, 'd')).toMatchObject({ phase: 'answering', label: 'deny' });
    expect(state.requests['nowhere']).toBeUndefined();
    expect(state.requests['c']?.[8]).toBeUndefined();
  });

  it('[fault 33] waits again when its answer failed, and says why', () => {
    const again = after(answer(7), failed(7));
    expect(statusOf(again)).toEqual({ phase: 'pending', problem: 'The line broke.' });
    expect(statusOf(fold([answer(7, 'deny')], again))).toMatchObject({ phase: 'answering', label: 'deny' });
  });

  it('that the runtime does not hold any more is withdrawn, and drawn so once', () => {
    const state = after(answer(7), gone(7), gone(7));
    expect(statusOf(state)).toEqual({ phase: 'withdrawn', reason: 'notHeld' });
    expect(entriesOf(state).filter(({ kind }) => kind === 'withdrawn')).toEqual([
      { kind: 'withdrawn', requestId: 7, reason: 'notHeld' },
    ]);
  });

  it('that the runtime resolves after all is answered', () => {
    const state = after(answer(7), gone(7), ...receive([resolved(4, 7)]));
    expect(statusOf(state)?.phase).toBe('answered');
  });

  it('of which nobody knows is not gone', () => {
    expect(after(gone(8))).toBe(waiting);
  });

  it('is drawn once, though the runtime raises it again under another number', () => {
    const state = after(...receive([approval(4, 7), approval(9, 7)]));
    expect(entriesOf(state).filter((entry) => entry.kind === 'event' && entry.event.kind === 'request')).toHaveLength(
      1,
    );
    expect(state.transcript['c']?.cursor).toBe(9);
  });

  it('is resolved once, though the runtime says it again', () => {
    const state = after(...receive([resolved(4, 7), resolved(9, 7, 'deny')]));
    expect(statusOf(state)).toMatchObject({ resolution: DECISION });
    const told = entriesOf(state).filter((entry) => entry.kind === 'event' && entry.event.kind === 'request_resolved');
    expect(told).toHaveLength(1);
  });

  it('whose resolution comes first is known as answered', () => {
    const state = heard([...turnStart(1), resolved(3, 7), approval(4, 7)]);
    expect(state.requests['c']?.[7]).toMatchObject({ request: { id: 7 }, status: { phase: 'answered' } });
  });

  it('of which only the resolution is known draws nothing when the turn ends', () => {
    const state = heard([...turnStart(1), resolved(3, 7), event(4, 'turn_succeeded')]);
    expect(entriesOf(state).map(({ kind }) => kind)).toEqual(['event', 'event', 'turnEnd']);
  });
});

describe('the call that a request holds up', () => {
  const started = (sequence: number, id: string | null, name: string) =>
    event(sequence, 'tool_call_started', { id, name, arguments: '{}' });
  const completed = (sequence: number, id: string) =>
    event(sequence, 'tool_call_completed', { id, name: null, output: 'ok' });
  const callOf = (state: RootState, id = 7) => state.requests['c']?.[id]?.callId;

  it('is the newest of its tool that has not ended', () => {
    const state = heard([started(1, 'a', 'bash'), started(2, 'b', 'bash'), started(3, 'c', 'read'), approval(4, 7)]);
    expect(callOf(state)).toBe('b');
    const ended = heard([started(1, 'a', 'bash'), started(2, 'b', 'bash'), completed(3, 'b'), approval(4, 7)]);
    expect(callOf(ended)).toBe('a');
  });

  it('is any for a question, and none where nothing runs', () => {
    const question = event(2, 'request', { request: { id: 7, kind: 'elicitation', payload: { message: 'm' } } });
    expect(callOf(heard([started(1, 'a', 'ask_user'), question]))).toBe('a');
    expect(callOf(heard([question]))).toBeNull();
    expect(callOf(heard([completed(1, 'a'), question]))).toBeNull();
    expect(callOf(heard([started(1, null, 'bash'), approval(2, 7)]))).toBeNull();
  });

  it('takes the request along when it ends without an answer, and only that', () => {
    const state = heard([
      ...turnStart(1),
      started(3, 'a', 'bash'),
      approval(4, 7),
      started(5, 'b', 'bash'),
      approval(6, 8),
      completed(7, 'a'),
    ]);
    expect(statusOf(state, 7)).toEqual({ phase: 'withdrawn', reason: 'notHeld' });
    expect(statusOf(state, 8)?.phase).toBe('pending');
  });

  it('without an id takes nothing along', () => {
    const state = heard([approval(1, 7), event(2, 'tool_call_completed', { id: null, output: 'x' })]);
    expect(statusOf(state)?.phase).toBe('pending');
  });
});
