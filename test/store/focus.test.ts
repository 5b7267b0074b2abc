import { describe, expect, it } from 'vitest';
import { selectFocus } from '../../src/selectors/focus.js';
import { forgotten, gaveUp, replayRefused } from '../../src/store/connections.js';
import { connectionAwaited, connectionFocused } from '../../src/store/focus.js';
import { emptyState } from '../../src/store/replay.js';
import { attach, fold, open } from './conversation.js';

describe('the conversation in focus', () => {
  it('is none before any, then the one handed over last, then the one chosen', () => {
    expect(selectFocus(emptyState())).toBeUndefined();
    const state = fold([open('a'), open('b')]);
    expect(selectFocus(state)).toBe('b');
    expect(selectFocus(fold([connectionFocused({ connection: 'a' })], state))).toBe('a');
  });

  it('falls to another when it is forgotten, and never names one that there is not', () => {
    const state = fold([open('a'), open('b'), forgotten({ connection: 'b' })]);
    expect(selectFocus(state)).toBe('a');
    expect(selectFocus(fold([connectionFocused({ connection: 'gone' })], state))).toBe('a');
    expect(selectFocus(fold([forgotten({ connection: 'a' })], state))).toBeUndefined();
  });

  it('stays where another connection is forgotten', () => {
    const state = fold([open('a'), open('b'), connectionFocused({ connection: 'a' }), forgotten({ connection: 'b' })]);
    expect(state.focus).toEqual({ connection: 'a' });
  });

  describe('[defect B35] chosen before it is attached', () => {
    const two = fold([open('a'), open('b')]);
    const chosen = (...actions: Parameters<typeof fold>[0]) => selectFocus(fold(actions, two));
    const a = { connection: 'a' };

    it('is in focus from then on', () => {
      expect(chosen(connectionAwaited(a))).toBe('b');
      expect(chosen(connectionAwaited(a), attach(a))).toBe('a');
      expect(chosen(connectionAwaited(a), replayRefused({ ...a, message: 'too far', at: 1 }))).toBe('a');
    });

    it.each([
      ['another chosen', [connectionFocused({ connection: 'b' })]],
      ['another awaited, which arrives first', [connectionAwaited({ connection: 'b' }), attach({ connection: 'b' })]],
      ['another handed over', [open('c'), connectionFocused({ connection: 'b' })]],
    ])('is passed over by %s meanwhile', (_, meanwhile) => {
      expect(chosen(connectionAwaited(a), ...meanwhile, attach(a))).toBe('b');
    });

    it('of several the last one, whichever arrives last', () => {
      const b = { connection: 'b' };
      for (const arrivals of [
        [attach(a), attach(b)],
        [attach(b), attach(a)],
      ]) {
        expect(chosen(connectionFocused(a), connectionAwaited(a), connectionAwaited(b), ...arrivals)).toBe('b');
        expect(chosen(connectionAwaited(b), connectionAwaited(a), ...arrivals)).toBe('a');
      }
    });

    it('and never is, is not in focus', () => {
      expect(chosen(connectionAwaited(a), gaveUp({ ...a, message: 'gone' }))).toBe('b');
    });
  });
});
