import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/protocol/requests.js';
import {
  cutText,
  HISTORY_TURNS_LIMIT,
  OPAQUE_LIMIT,
  PART_LIMIT,
  prettyJson,
  revealedTitle,
  splitPoint,
  title,
  TITLE_LIMIT,
} from '../../src/selectors/bounds.js';

const FAMILY = '👨‍👩‍👧‍👦';
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
const isBoundary = (text: string, at: number) =>
  at === 0 || at === text.length || graphemes.segment(text).containing(at)?.index === at;

const STATEMENT = /… \(([\d,]+) more characters?\)$/;

/** What was kept of a cut text, and how many units the statement says are missing. */
function read(cut: string): { kept: string; missing: number } {
  const found = STATEMENT.exec(cut);
  return found
    ? { kept: cut.slice(0, found.index), missing: Number(found[1]?.replaceAll(',', '')) }
    : { kept: cut, missing: 0 };
}

const clusters = fc
  .array(fc.constantFrom('a', ' ', '\n', 'é', 'e\u0301', '漢', '😀', FAMILY, '🇩🇪', 'ก็', 'x\u0300\u0301\u0302'), {
    minLength: 20,
    maxLength: 400,
    size: 'max',
  })
  .map((parts) => parts.join(''));

describe('bounds', () => {
  it('are those that the contract names', () => {
    expect([PART_LIMIT, TITLE_LIMIT, OPAQUE_LIMIT, HISTORY_TURNS_LIMIT]).toEqual([65_536, 256, 2048, 500]);
  });
});

describe('a text that is cut', () => {
  it('stays as it is where it fits', () => {
    const text = 'a'.repeat(PART_LIMIT);
    expect(cutText(text, PART_LIMIT)).toBe(text);
  });

  it('says how much is missing, within its limit', () => {
    const cut = cutText('a'.repeat(100_000), PART_LIMIT);
    expect(cut.length).toBeLessThanOrEqual(PART_LIMIT);
    expect(cut.slice(-27)).toBe('a… (34,491 more characters)');
    expect(read(cut).kept.length + read(cut).missing).toBe(100_000);
  });

  it('counts what its caller left out', () => {
    expect(cutText('abc', 100, 2000)).toBe('abc… (2,000 more characters)');
    expect(cutText('abc', 100, 1)).toBe('abc… (1 more character)');
  });

  it('is a mere ellipsis where a statement has no room', () => {
    expect([cutText('abcdef', 4), cutText('abcdef', 1), cutText('abcdef', 0)]).toEqual(['abc…', '…', '']);
  });

  it.each([
    ['a surrogate pair', '😀'],
    ['a ZWJ sequence', FAMILY],
    ['a combining mark', 'e\u0301'],
  ])('[fault 56] parts no %s at 64 KiB', (_, character) => {
    for (let offset = 0; offset < character.length; offset++) {
      const text = 'x'.repeat(offset) + character.repeat(PART_LIMIT);
      const { kept, missing } = read(cutText(text, PART_LIMIT));
      expect((kept.length - offset) % character.length).toBe(0);
      expect(kept.length + missing).toBe(text.length);
      expect(kept.length).toBeGreaterThan(PART_LIMIT - 100);
    }
  });

  it('[fault 56] is cut somewhere even where one character never ends', () => {
    const text = `x${'\u0301'.repeat(PART_LIMIT * 2)}`;
    const { kept, missing } = read(cutText(text, PART_LIMIT));
    expect(kept.length + missing).toBe(text.length);
    expect(kept.length).toBeGreaterThan(PART_LIMIT - 100);
  });

  property.prop([clusters, fc.integer({ min: 30, max: 600 })])(
    '[fault 56] ends with a whole character, keeps to its limit and counts right',
    (text, limit) => {
      const cut = cutText(text, limit);
      expect(cut.length).toBeLessThanOrEqual(limit);
      const { kept, missing } = read(cut);
      expect(kept.length + missing).toBe(text.length);
      expect(text.startsWith(kept)).toBe(true);
      expect(isBoundary(text, kept.length)).toBe(true);
    },
  );
});

describe('assistant text that is split', () => {
  it('is split after a line of the last quarter', () => {
    expect(splitPoint(`${'a'.repeat(80)}\n${'b'.repeat(80)}`, 100)).toBe(81);
    expect(splitPoint(`${'a'.repeat(99)}\n${'b'.repeat(80)}`, 100)).toBe(100);
  });

  it('is split at the bound where the last line is too far back', () => {
    expect(splitPoint(`${'a'.repeat(50)}\n${'b'.repeat(80)}`, 100)).toBe(100);
  });

  it('is not split where it fits', () => {
    expect(splitPoint('abc\n', 4)).toBe(4);
  });

  it('goes on even where one character fills the room', () => {
    expect(splitPoint(FAMILY.repeat(3), 4)).toBe(3);
    expect(splitPoint('😀😀', 1)).toBe(0);
  });

  property.prop([clusters, fc.integer({ min: 24, max: 200 })])(
    '[fault 56] loses nothing, parts no character and keeps to the room',
    (text, room) => {
      let rest = text;
      while (rest !== '') {
        const at = splitPoint(rest, room);
        expect(at).toBeGreaterThan(0);
        expect(at).toBeLessThanOrEqual(room);
        expect(isBoundary(rest, at)).toBe(true);
        rest = rest.slice(at);
      }
    },
  );
});

describe('a title', () => {
  it('is one clean line', () => {
    expect(title('  a\tb\r\n\n c\x1b[31md\0 ')).toBe('a b cd');
    expect(title('')).toBe('');
  });

  it('[fault 56] is cut at 256 units, never inside a character', () => {
    expect(title('a'.repeat(256))).toBe('a'.repeat(256));
    expect(title('a'.repeat(257))).toBe(`${'a'.repeat(255)}…`);
    expect(title(`${'a'.repeat(254)}😀b`)).toBe(`${'a'.repeat(254)}…`);
    expect(title(`${'a'.repeat(250)}${FAMILY}b`)).toBe(`${'a'.repeat(250)}…`);
    expect(title(`${'a'.repeat(254)}e\u0301e\u0301`)).toBe(`${'a'.repeat(254)}…`);
  });

  it('[fault 34] of 1 MB is still one short line', () => {
    expect(title('word \n'.repeat(200_000))).toHaveLength(256);
    expect(title(' '.repeat(1_000_000))).toBe('…');
    expect(revealedTitle('\u202e'.repeat(1_000_000)).length).toBeLessThanOrEqual(256);
  });

  it('[fault 34] of a decision takes nothing away', () => {
    expect(revealedTitle('rm \x1b[8m\u202ex\n y')).toBe('rm ⟨U+001B⟩[8m⟨U+202E⟩x y');
  });
});

describe('JSON to read', () => {
  it('reads like JSON', () => {
    const value = { a: [1, 'x"\n', null, true], b: {}, c: { d: [] } };
    expect(prettyJson(value, 1000)).toBe(JSON.stringify(value, null, 2));
  });

  it('[fault 34] hides nothing', () => {
    expect(prettyJson({ a: '\u202e\x9b' }, 1000)).toBe('{\n  "a": "⟨U+202E⟩⟨U+009B⟩"\n}');
  });

  it('says what it leaves out, within the limit', () => {
    const long = prettyJson({ a: 'x'.repeat(10_000_000), b: 1 }, PART_LIMIT);
    expect(long.length).toBeLessThanOrEqual(PART_LIMIT);
    expect(long).toMatch(/x… \(9,934,\d{3} more characters\)\n… \(the rest is left out\)$/);
    const wide = prettyJson({ list: Array.from({ length: 100_000 }, (_, i) => i) }, 500);
    expect(wide.length).toBeLessThanOrEqual(500);
    expect(wide).toMatch(/… \(the rest is left out\)$/);
  });

  it('[fault 59] ends on what is nested without end', () => {
    let deep: Json = 'bottom';
    for (let depth = 0; depth < 100_000; depth++) deep = [deep];
    const around = prettyJson({ deep, after: 1 }, PART_LIMIT);
    expect([around.length < 1000, around.endsWith('\n  "after": 1\n}')]).toEqual([true, true]);
    const circle: Record<string, Json> = {};
    circle['again'] = [circle, circle];
    expect(prettyJson(circle, PART_LIMIT).length).toBeLessThanOrEqual(PART_LIMIT);
  });

  property.prop([fc.jsonValue({ maxDepth: 6 })])('is the same value where it fits', (value) => {
    const json = JSON.parse(JSON.stringify(value)) as Json;
    const text = prettyJson(json, 1_000_000);
    fc.pre(!text.includes('⟨'));
    expect(JSON.parse(text)).toEqual(json);
  });
});
