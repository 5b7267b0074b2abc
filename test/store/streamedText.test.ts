import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import {
  append,
  NO_TEXT,
  SEGMENT_LENGTH,
  SEGMENTS_IN_BLOCK,
  textAfter,
  wholeText,
  type StreamedText,
} from '../../src/store/streamedText.js';

// Long enough to fill blocks: a stream that stays within one would prove nothing about the seams.
const longStream = fc
  .array(fc.nat({ max: 900 }), { minLength: 60, maxLength: 160, size: 'max' })
  .map((lengths) => lengths.map((length, at) => String.fromCharCode(97 + (at % 26)).repeat(length)));

const stream = (texts: readonly string[]) => texts.reduce(append, NO_TEXT);

describe('streamed text', () => {
  it('is nothing at first', () => {
    expect([wholeText(NO_TEXT), textAfter(NO_TEXT, 0), textAfter(NO_TEXT, 5)]).toEqual(['', '', '']);
  });

  property.prop([longStream, fc.nat(), fc.nat()], { endOnFailure: true })(
    'gives a reader that returns at any time exactly what is new',
    (texts, first, second) => {
      const text = stream(texts);
      const whole = texts.join('');
      const a = first % (whole.length + 1);
      const b = second % (whole.length + 1);
      expect(text.length).toBe(whole.length);
      expect(wholeText(text)).toBe(whole);
      expect(whole.slice(0, a) + textAfter(text, a)).toBe(whole);
      expect(textAfter(text, b)).toBe(whole.slice(b));
    },
  );

  property.prop([fc.array(fc.string({ unit: 'binary', maxLength: 40 }), { maxLength: 200, size: 'max' })])(
    'is the deltas put together, whatever they hold',
    (texts) => {
      expect(wholeText(stream(texts))).toBe(texts.join(''));
    },
  );

  property.prop([longStream], { endOnFailure: true })(
    'grows by touching one small string and one short array',
    (texts) => {
      let text: StreamedText = NO_TEXT;
      for (const delta of texts) {
        const grown = append(text, delta);
        if (grown.blocks !== text.blocks) {
          expect(grown.blocks.slice(0, -1)).toEqual(text.blocks);
          expect(grown.segments).toHaveLength(1);
        }
        const kept = text.segments.length - 1;
        if (grown.blocks === text.blocks) expect(grown.segments.slice(0, kept)).toEqual(text.segments.slice(0, kept));
        expect(grown.segments.length).toBeLessThanOrEqual(SEGMENTS_IN_BLOCK);
        for (const segment of grown.segments) expect(segment.length).toBeLessThan(SEGMENT_LENGTH + 900);
        text = grown;
      }
    },
  );

  it('reads only the pieces that hold what is new', () => {
    const whole = stream(Array.from({ length: 5000 }, () => 'x'.repeat(100)));
    let read = 0;
    const counting = (pieces: readonly string[]) =>
      new Proxy(pieces, {
        get: (target, key, receiver) => {
          if (typeof key === 'string' && /^\d+$/.test(key)) read += 1;
          return Reflect.get(target, key, receiver) as unknown;
        },
      });
    const text = { ...whole, blocks: counting(whole.blocks), segments: counting(whole.segments) };
    expect(textAfter(text, text.length - 50)).toBe('x'.repeat(50));
    expect(read).toBe(1);
    expect(whole.blocks.length).toBeGreaterThan(10);
  });
});
