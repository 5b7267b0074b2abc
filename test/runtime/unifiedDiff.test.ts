import { fc, test } from '@fast-check/vitest';
import { applyPatch } from 'diff';
import { describe, expect, it } from 'vitest';
import { unifiedDiff } from '../../src/runtime/unifiedDiff.js';

describe('unifiedDiff', () => {
  it('is empty when nothing changed', () => {
    expect(unifiedDiff('a.txt', 'same\n', 'same\n')).toBe('');
    expect(unifiedDiff('a.txt', undefined, undefined)).toBe('');
  });

  it('shows three lines of context around the change', () => {
    const before = ['1', '2', '3', '4', '5', '6', '7', '8', '9', ''].join('\n');
    expect(unifiedDiff('n.txt', before, before.replace('5', 'five'))).toBe(
      '--- a/n.txt\n+++ b/n.txt\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n',
    );
  });

  it('marks a missing newline at the end', () => {
    expect(unifiedDiff('a', 'x', 'x\n')).toBe(
      '--- a/a\n+++ b/a\n@@ -1,1 +1,1 @@\n-x\n\\ No newline at end of file\n+x\n',
    );
  });

  const lines = fc.array(fc.constantFrom('a', 'b', 'c', '', '+x', '-y', ' z', '\\'), { maxLength: 12 });
  const text = fc
    .tuple(lines, fc.boolean())
    .map(([all, ended]) => all.join('\n') + (ended && all.length > 0 ? '\n' : ''));

  test.prop([text, text])('leads from the one text to the other', (before, after) => {
    const diff = unifiedDiff('f', before, after);
    expect(diff === '' ? before : applyPatch(before, diff)).toBe(after);
  });
});
