import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { sharing } from '../../src/store/sharing.js';

const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

describe('a value that shares with the one before', () => {
  test.prop([fc.jsonValue(), fc.jsonValue()], { seed: 7 })(
    'is always the later one, and the earlier object where both are equal',
    (before, after) => {
      expect(copy(sharing(copy(before), copy(after)))).toEqual(copy(after));
      const first = copy(before);
      expect(sharing(first, copy(before))).toBe(first);
    },
  );

  it('keeps rows by their names, wherever they stand', () => {
    const before = [{ id: 'a', deep: { n: 1 } }, { id: 'b' }];
    const after = sharing(before, [{ id: 'c' }, { id: 'b' }, { id: 'a', deep: { n: 1 }, more: 1 }]);
    expect(after[1]).toBe(before[1]);
    expect(after[2]).not.toBe(before[0]);
    expect((after[2] as { deep: object }).deep).toBe(before[0]?.deep);
    const agents = [{ harness: 'x', signedIn: false }, { harness: 'y' }];
    expect(sharing(agents, [{ harness: 'y' }, { harness: 'x', signedIn: true }])[0]).toBe(agents[1]);
  });

  it('tells an order, a length and a missing member from what was before', () => {
    const before = { list: [{ id: 'a' }, { id: 'b' }], gone: null };
    expect(sharing(before, { list: [{ id: 'b' }, { id: 'a' }], gone: null })).not.toBe(before);
    expect(sharing(before, { list: [{ id: 'a' }], gone: null })).toEqual({ list: [{ id: 'a' }], gone: null });
    expect(sharing(before, { list: before.list })).toEqual({ list: before.list });
    expect(sharing({ a: undefined }, { b: undefined })).toEqual({ b: undefined });
  });
});
