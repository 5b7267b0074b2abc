import type { UnknownAction } from '@reduxjs/toolkit';
import { describe, expect, it } from 'vitest';
import { TITLE_LIMIT } from '../../src/selectors/bounds.js';
import { isTurnGoingOn, selectEndedTurn, selectTurn, selectTurnLabel } from '../../src/selectors/turn.js';
import {
  inputAccepted,
  interruptAcknowledged,
  interruptFailed,
  interruptRequested,
  submitRequested,
} from '../../src/store/turn.js';
import { event, turnStart } from '../doubles/runtime.js';
import { fold, heard, receive } from '../store/conversation.js';

const ours = { connection: 'c', turnId: 'mine' };
const submit = submitRequested({ ...ours, prompt: 'hello', at: 0 });
const started = receive(turnStart(1));
const stop = interruptRequested({ ...ours, at: 0 });
const failed = (problem: string) => interruptFailed({ ...ours, problem, at: 0 });
const after = (...actions: readonly UnknownAction[]) => fold(actions, heard([]));

describe('a turn', () => {
  it.each<[string, readonly UnknownAction[], string | undefined, boolean]>([
    ['idle', [], undefined, false],
    ['sent', [submit], 'Sending', false],
    ['accepted', [submit, inputAccepted(ours)], 'Sending', true],
    ['running', [submit, ...started], 'Working', true],
    ['to be stopped', [submit, ...started, stop], 'Stop requested', true],
    ['to be stopped before it began', [submit, stop], 'Stop requested', false],
    ['being stopped', [submit, ...started, stop, interruptAcknowledged({ ...ours, at: 0 })], 'Stopping', true],
    [
      'not stopped',
      [submit, ...started, stop, failed('The line broke.')],
      'Working (Stop did not get through: The line broke.)',
      true,
    ],
    ['over', [submit, ...started, ...receive([event(3, 'turn_succeeded')])], undefined, false],
  ])('that is %s', (_, actions, label, goingOn) => {
    const state = after(...actions);
    expect(selectTurnLabel(state, 'c')).toBe(label);
    expect(isTurnGoingOn(state, 'c')).toBe(goingOn);
  });

  it('has a label of one clean, short line, whatever kept Stop from getting through', () => {
    const problem = `\u001b[31m${'bad '.repeat(1000)}\nworse\u202e`;
    const label = selectTurnLabel(after(submit, ...started, stop, failed(problem)), 'c') ?? '';
    expect(label).toMatch(/^Working \(Stop did not get through: bad bad /);
    expect(label).not.toMatch(/[\0-\x1f\x7f-\x9f\u202e]/);
    expect(label.length).toBeLessThanOrEqual(TITLE_LIMIT + 50);
  });

  it('of a connection that nobody knows is idle', () => {
    const state = after();
    expect(selectTurn(state, 'nowhere')).toEqual({ phase: 'idle' });
    expect(selectTurnLabel(state, 'nowhere')).toBeUndefined();
    expect(isTurnGoingOn(state, 'nowhere')).toBe(false);
    expect(selectEndedTurn(state, 'nowhere', 'mine')).toBeUndefined();
  });

  it('has ended once it has, under its own name', () => {
    const running = after(submit, ...started);
    expect(selectEndedTurn(running, 'c', 'mine')).toBeUndefined();
    const over = fold(receive([event(3, 'turn_failed', { message: 'no model' })]), running);
    expect(selectEndedTurn(over, 'c', 'mine')).toEqual({
      turnId: 'mine',
      mine: true,
      outcome: 'failed',
      message: 'no model',
    });
    expect(selectEndedTurn(over, 'c', 'other')).toBeUndefined();
    expect(selectEndedTurn(over, 'd', 'mine')).toBeUndefined();
  });
});
