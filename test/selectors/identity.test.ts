import { describe, expect, it } from 'vitest';
import { selectReplyFooter } from '../../src/selectors/footer.js';
import { selectIdentity, selectIdentityLabel } from '../../src/selectors/identity.js';
import { startCursor, endCursor } from '../../src/selectors/newParts.js';
import { emptyState } from '../../src/store/replay.js';
import { DESCRIPTOR, event, turnStart } from '../doubles/runtime.js';
import { fold, heard, receive } from '../store/conversation.js';

const by = (sourceHarness: string | null, model: string) =>
  heard([], { descriptor: { ...DESCRIPTOR, sourceHarness, model } });

describe('who answers', () => {
  it.each([
    [null, 'gpt-x', 'Volter Harness · gpt-x'],
    ['supercode', 'gpt-x', 'Volter Harness · gpt-x'],
    ['claude-code', 'claude-code', 'Claude Code'],
    ['codex', 'o9', 'Codex · o9'],
    ['brand-new\u001b[31m', '', 'brand-new'],
  ])('[defect E67] harness %j with model %j is %s', (harness, model, label) => {
    expect(selectIdentityLabel(by(harness, model), 'c')).toBe(label);
  });

  it('is the product where nothing is connected', () => {
    expect(selectIdentity(emptyState(), undefined)).toEqual({ harness: 'Volter Harness', model: undefined });
    expect(selectIdentity(emptyState(), 'gone')).toEqual({ harness: 'Volter Harness', model: undefined });
  });
});

describe('the line below a reply', () => {
  const usage = (sequence: number, prompt: number, completion: number) =>
    event(sequence, 'usage', { prompt_tokens: prompt, completion_tokens: completion });

  it('names the model, the time it took and all that went over in it', () => {
    const before = heard([...turnStart(1), usage(3, 100, 100), event(4, 'turn_succeeded')]);
    const from = endCursor(before, 'c');
    const state = fold(receive([...turnStart(5), usage(7, 1_000, 20), usage(8, 1_100, 30)]), before);
    expect(selectReplyFooter(state, 'c', from, 1_234)).toBe(`${DESCRIPTOR.model} · 1.2 s · 2,150 tokens`);
    expect(selectReplyFooter(state, 'c', startCursor(state, 'c'), 61_000)).toBe(
      `${DESCRIPTOR.model} · 1 min 1 s · 2,350 tokens`,
    );
  });

  it('names the model that the turn went over to, and no tokens where none were told', () => {
    const state = heard([...turnStart(1), event(3, 'model_changed', { from: 'a', to: 'b', reason: null })]);
    expect(selectReplyFooter(state, 'c', startCursor(state, 'c'), 12_000)).toBe('b · 12 s');
  });
});
