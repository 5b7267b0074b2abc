import { describe, expect, it } from 'vitest';
import { TITLE_LIMIT } from '../../src/selectors/bounds.js';
import { selectControlLabel } from '../../src/selectors/lease.js';
import { reported } from '../../src/store/lease.js';
import { fold } from '../store/conversation.js';

const report = (mine: boolean, holder: string | null) =>
  reported({ connection: 'c', mine, holder, ttlMs: 30_000, sentAt: 0 });
const label = (...reports: Parameters<typeof fold>[0]) => selectControlLabel(fold(reports).lease, 'c');

describe('the label of control', () => {
  it.each([
    ['nothing is known', [], undefined],
    ['it is ours', [report(true, 'me')], 'In control'],
    ['another has it', [report(false, 'window-2')], 'Watching (window-2 is in control)'],
    ['nobody has it', [report(false, null)], 'Watching'],
    ['another took it', [report(true, 'me'), report(false, 'window-2')], 'Control taken by window-2'],
    ['it ran out', [report(true, 'me'), report(false, null)], 'Control lost'],
  ])('where %s', (_, reports, expected) => {
    expect(label(...reports)).toBe(expected);
  });

  it('is of one connection', () => {
    expect(selectControlLabel(fold([report(true, 'me')]).lease, 'd')).toBeUndefined();
  });

  it.each([
    [report(false, `\u001b[31m${'x'.repeat(1000)}\n`)],
    [report(true, 'me'), report(false, `\u001b[31m${'x'.repeat(1000)}\n`)],
  ])('is one short, clean line, whoever has it', (...reports) => {
    const text = label(...reports) ?? '';
    expect(text).toContain('xxx');
    expect(text).not.toMatch(/[\0-\x1f\x7f-\x9f]/);
    expect(text.length).toBeLessThan(TITLE_LIMIT + 40);
  });
});
