import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { boundedJson, cutAtCodePoint } from '../../src/protocol/bounded.js';

const MARK = '…';
const LONE = /\p{Cs}/u;

/** An object that counts how often a value is taken out of it. */
function counted<T extends object>(target: T): { readonly value: T; readonly taken: () => number } {
  let taken = 0;
  const value = new Proxy(target, {
    get: (on, key, receiver) => {
      taken += 1;
      return Reflect.get(on, key, receiver) as unknown;
    },
  });
  return { value, taken: () => taken };
}

describe('JSON within a bound', () => {
  it('is plain JSON where it fits', () => {
    const value = { a: [1, -0.5, true, null, 'ü"\\\n'], b: {}, c: [], '': [[]], __proto__: null };
    expect(boundedJson(value, 1000)).toBe(JSON.stringify(value));
  });

  it('keeps a member called `__proto__`', () => {
    expect(boundedJson(JSON.parse('{"__proto__":{"a":1}}'), 100)).toBe('{"__proto__":{"a":1}}');
  });

  it('writes what JSON has no word for as null', () => {
    expect(boundedJson(undefined, 100)).toBe('null');
    expect(boundedJson([undefined, NaN, Infinity], 100)).toBe('[null,null,null]');
  });

  it.each([0, 1, 2, 3, 4, 5, 6, 7])('of at most %i units says that something is missing', (limit) => {
    const cut = boundedJson(['a', 1], limit);
    const whole = '["a",1]';
    expect(cut).toBe(limit >= whole.length ? whole : `${whole.slice(0, limit)}${MARK}`);
  });

  it('[fault 59] of 10 MB of text reads no more than it shows', () => {
    const text = 'x'.repeat(10 * 1024 * 1024);
    const cut = boundedJson({ text, more: text }, 2048);
    expect(cut).toBe(`{"text":"${'x'.repeat(2048 - 9)}${MARK}`);
  });

  it('[fault 59] of a list of 10 MB takes no more items than it shows', () => {
    const { value, taken } = counted(Array.from({ length: 1_000_000 }, (_, at) => `item ${at}`));
    expect(boundedJson(value, 2048)).toHaveLength(2049);
    expect(taken()).toBeLessThan(1000);
  });

  it('[fault 59] of an object of 10 MB takes no more members than it shows', () => {
    const { value, taken } = counted(
      Object.fromEntries(Array.from({ length: 200_000 }, (_, at) => [`member ${at}`, 'x'.repeat(40)])),
    );
    expect(boundedJson(value, 2048)).toHaveLength(2049);
    expect(taken()).toBeLessThan(1000);
  });

  it.each([
    ['lists', '['.repeat(10_000) + ']'.repeat(10_000)],
    ['objects', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`],
  ])('[fault 59] of %s nested 10 000 deep ends, and says where it does', (_, json) => {
    const cut = boundedJson(JSON.parse(json), 2048);
    expect(cut).toContain(MARK);
    expect(cut.length).toBeLessThan(200);
  });

  it('[fault 59] of one value in many places, and of one that holds itself, ends', () => {
    const shared: unknown[] = ['x'];
    const twice = Array.from({ length: 40 }).reduce<unknown>((inner) => [inner, inner], shared);
    expect(boundedJson(twice, 2048).length).toBeLessThanOrEqual(2049);
    shared.push(shared);
    expect(boundedJson(shared, 2048).length).toBeLessThanOrEqual(2049);
  });

  const nasty = fc.oneof(
    fc.jsonValue({ maxDepth: 5, stringUnit: 'binary' }),
    fc.array(fc.string({ unit: fc.constantFrom('😀', 'a', '\ud83d', '\ude00', '"', '\\', '\u0000') })),
    fc.dictionary(fc.string({ unit: fc.constantFrom('😀', 'a', '\ud83d') }), fc.jsonValue({ maxDepth: 2 })),
  );
  property.prop([nasty, fc.nat({ max: 60 })], { numRuns: 1000 })(
    'is at most its bound and a mark long, parts no character, and is whole or marked',
    (value, limit) => {
      const cut = boundedJson(value, limit);
      const whole = JSON.stringify(value);
      expect(cut.length).toBeLessThanOrEqual(limit + MARK.length);
      expect(LONE.test(cut)).toBe(false);
      if (whole.length <= limit) expect(cut).toBe(whole);
      else {
        expect(cut.endsWith(MARK)).toBe(true);
        expect(whole.startsWith(cut.slice(0, -MARK.length))).toBe(true);
      }
    },
  );
});

describe('a text that is cut', () => {
  it('is itself where it fits', () => {
    expect(cutAtCodePoint('a😀', 3)).toBe('a😀');
  });

  it('loses a pair rather than half of it', () => {
    expect([cutAtCodePoint('a😀', 2), cutAtCodePoint('😀😀', 1), cutAtCodePoint('😀', 0)]).toEqual(['a', '', '']);
  });
});
