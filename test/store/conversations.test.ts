import { describe, expect, it } from 'vitest';
import { selectConversationRows } from '../../src/selectors/conversations.js';
import { selectOpenTurn } from '../../src/selectors/openTurn.js';
import { closed, forgotten } from '../../src/store/connections.js';
import { turnEnded } from '../../src/store/verdicts.js';
import { submitRequested } from '../../src/store/turn.js';
import { approval, delta, event, turnStart } from '../doubles/runtime.js';
import { assistant, attach, BUSY, fold, heard, HOSTED, open, receive, user } from './conversation.js';

describe('the times of a conversation', () => {
  it('are when this window attached, and when it saw a turn begin and end', () => {
    const state = heard([]);
    expect(state.conversations).toEqual({ c: { attachedAt: 1_000, turnStartedAt: null, turnEndedAt: null } });
    const running = fold(receive(turnStart(1)), state);
    expect(running.conversations['c']).toEqual({ attachedAt: 1_000, turnStartedAt: 2_000, turnEndedAt: null });
    const over = fold(receive([event(3, 'turn_succeeded')]), running);
    expect(over.conversations['c']).toEqual({ attachedAt: 1_000, turnStartedAt: 2_000, turnEndedAt: 2_000 });
  });

  it('stay when the connection is attached again, and go with it', () => {
    const state = fold([attach()], heard([...turnStart(1), event(3, 'turn_succeeded')]));
    expect(state.conversations['c']?.attachedAt).toBe(1_000);
    expect(fold([forgotten({ connection: 'c' })], state).conversations).toEqual({});
  });

  it('are not changed by a fact that has none', () => {
    const sent = fold([submitRequested({ connection: 'c', turnId: 't', prompt: 'p', at: 5_000 })], heard([]));
    const over = fold([turnEnded({ connection: 'c', turnId: 't', outcome: 'failed', message: '' })], sent);
    expect(over.conversations['c']).toEqual({ attachedAt: 1_000, turnStartedAt: 5_000, turnEndedAt: null });
  });

  it('are not touched by streamed text', () => {
    const state = heard(turnStart(1));
    expect(fold(receive([delta(3, 'x')]), state).conversations).toBe(state.conversations);
  });
});

describe('the list of conversations', () => {
  it('has the last active one first, by what was asked first, what waits before what runs', () => {
    const state = fold(
      [open('d'), attach({ connection: 'd', history: [user('the first question\nand more'), assistant('a')] })],
      heard([...turnStart(1, 'ls please'), approval(3, 7)]),
    );
    expect(selectConversationRows(state)).toMatchObject([
      { connection: 'c', label: 'ls please', status: 'needsInput' },
      { connection: 'd', label: 'the first question and more', status: 'completed' },
    ]);
    const both = fold(receive(turnStart(1, 'go'), 'd'), state);
    expect(selectConversationRows(both).map(({ connection, status }) => `${connection} ${status}`)).toEqual([
      'c needsInput',
      'd inProgress',
    ]);
  });

  it('names who answers where nothing was asked, and tells what failed', () => {
    const state = heard([]);
    expect(selectConversationRows(state)[0]?.label).toBe('Volter Harness · scripted/model');
    const failed = fold(receive([...turnStart(1), event(3, 'turn_failed', { message: '' })]), state);
    expect(selectConversationRows(failed)[0]?.status).toBe('failed');
    expect(selectConversationRows(fold([closed({ connection: 'c' })], state))[0]?.status).toBe('failed');
  });
});

describe('what of a conversation is not over', () => {
  it('is nothing while nothing runs or waits', () => {
    expect(selectOpenTurn(heard([...turnStart(1), event(3, 'turn_succeeded')]), 'c')).toBeUndefined();
  });

  it('is the turn that runs, from its own prompt on', () => {
    const state = heard([
      ...turnStart(1, 'one'),
      event(3, 'turn_succeeded'),
      ...turnStart(4, 'two'),
      delta(6, 'so far'),
      event(7, 'user_message', { text: 'steered' }),
    ]);
    expect(selectOpenTurn(state, 'c')).toMatchObject({ prompt: 'two', cursor: { at: 2 } });
  });

  it('has no prompt where none was heard', () => {
    expect(selectOpenTurn(heard([], { descriptor: BUSY }), 'c')).toMatchObject({ prompt: null, cursor: { at: 0 } });
  });

  it('is a request that still waits at an idle hosted runtime: its turn, or what stands behind the last one', () => {
    const asked = heard([], { descriptor: HOSTED, replay: [...turnStart(1, 'one'), approval(3, 7)] });
    expect(selectOpenTurn(asked, 'c')).toMatchObject({ prompt: 'one', cursor: { at: 0 } });
    const alone = heard([...turnStart(1, 'one'), event(3, 'turn_succeeded'), approval(4, 7)], { descriptor: HOSTED });
    expect(selectOpenTurn(alone, 'c')).toMatchObject({ prompt: null, cursor: { at: 2 } });
  });
});
