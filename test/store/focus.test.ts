import { describe, expect, it } from 'vitest';
import { selectFocus } from '../../src/selectors/focus.js';
import { forgotten } from '../../src/store/connections.js';
import { connectionFocused } from '../../src/store/focus.js';
import { emptyState } from '../../src/store/replay.js';
import { fold, open } from './conversation.js';

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
});
