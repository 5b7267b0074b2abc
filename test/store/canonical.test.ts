import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../src/store/canonical.js';

/** The same value with the members of its objects in another order. */
function shuffled(value: unknown, turn: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => shuffled(item, turn));
  const entries = Object.entries(value).map(([name, member]) => [name, shuffled(member, turn)] as const);
  const from = entries.length === 0 ? 0 : turn % entries.length;
  return Object.fromEntries([...entries.slice(from), ...entries.slice(0, from)].reverse());
}

describe('canonical JSON', () => {
  it('sorts the members of every object and nothing else', () => {
    expect(canonicalJson({ b: [{ d: 1, c: [2, 1] }], a: null })).toBe('{"a":null,"b":[{"c":[2,1],"d":1}]}');
  });

  it('leaves out what is undefined, as the log does', () => {
    expect(canonicalJson({ b: undefined, a: 1 })).toBe('{"a":1}');
  });

  it('keeps a member called `__proto__`', () => {
    expect(canonicalJson(JSON.parse('{"b":1,"__proto__":{"y":1,"x":2}}'))).toBe('{"__proto__":{"x":2,"y":1},"b":1}');
  });

  property.prop([fc.jsonValue({ maxDepth: 5 }), fc.nat()], { numRuns: 500 })(
    'is the same text whatever order built the value, and says the same',
    (value, turn) => {
      expect(canonicalJson(shuffled(value, turn))).toBe(canonicalJson(value));
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    },
  );

  it.each<[unknown, unknown]>([
    [
      [1, 2],
      [2, 1],
    ],
    [{ a: 1 }, { a: '1' }],
    [{ a: null }, {}],
    [{ a: { b: 1 } }, { a: 1, b: 1 }],
    [[], {}],
  ])('of %j is not that of %j', (one, other) => {
    expect(canonicalJson(one)).not.toBe(canonicalJson(other));
  });
});
