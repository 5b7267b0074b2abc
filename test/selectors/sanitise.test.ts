import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { reveal, sanitise } from '../../src/selectors/sanitise.js';

const clean = (raw: string) => sanitise(raw, true).text;

/** As a reader of a stream does: each call goes on from what the one before consumed. */
function streamed(pieces: readonly string[]): string {
  let pending = '';
  let shown = '';
  for (const piece of pieces) {
    const { text, consumed } = sanitise(pending + piece, false);
    shown += text;
    pending = (pending + piece).slice(consumed);
  }
  return shown + sanitise(pending, true).text;
}

function cutAt(text: string, places: readonly number[]): string[] {
  const sorted = [0, ...places.map((place) => place % (text.length + 1)).sort((a, b) => a - b), text.length];
  return sorted.slice(1).map((end, i) => text.slice(sorted[i], end));
}

const nasty = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...['\x1b', '\x1b[', '31;1m', '\x9b2J', '\x1b]0;a title', '\x1b]8;;https://evil.example', '\x07', '\x1b\\'],
        ...['\x9c', '\x9d', '\x90', '\x1bP1$r', '\x1b(', 'B', '\x1bc', '\r', '\n', '\r\n', '\t', '\0', '\x7f', '\x85'],
        ...[
          '\u202e',
          '\u200b',
          '\ufeff',
          '\u200d',
          '👩‍👩‍👧',
          '\ud83d',
          '\ude00',
          '😀',
          'plain text',
          ' ',
          'é',
          '[',
          ']',
          '\\',
        ],
      ),
      fc.string({ unit: 'binary' }),
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(''));

describe('text from outside, cleaned', () => {
  it.each([
    ['colours', '\x1b[1;31mred\x1b[0m plain', 'red plain'],
    ['colours, 8-bit', '\x9b31mred\x9b0m plain', 'red plain'],
    ['a cursor that moves and a screen that is wiped', 'a\x1b[2K\x1b[1Gb\x1b[?25lc\x1b[2Jd', 'abcd'],
    ['a window title ended by BEL', 'a\x1b]0;my title\x07b', 'ab'],
    ['a window title ended by ST', 'a\x1b]0;my title\x1b\\b', 'ab'],
    ['a window title, 8-bit', 'a\x9d0;my title\x9cb', 'ab'],
    [
      'a hyperlink, of which the text stays',
      'see \x1b]8;id=1;https://evil.example\x1b\\here\x1b]8;;\x1b\\.',
      'see here.',
    ],
    ['a device string', 'a\x1bP1$r0m\x1b\\b', 'ab'],
    ['a device string, 8-bit', 'a\x90q#0\x9cb', 'ab'],
    ['privacy and application strings', 'a\x1b^x\x1b\\b\x1b_y\x1b\\c\x1bXz\x1b\\d', 'abcd'],
    ['short sequences', 'a\x1bcb\x1b7c\x1b(Bd\x1b#8e', 'abcde'],
    ['a bell and a NUL', 'ding\x07 nul\0 end', 'ding nul end'],
    ['other C0 and C1 controls and DEL', 'a\x01\x08\x0b\x0c\x1fb\x7f\x80\x85\x9fc', 'abc'],
    ['a progress bar that overwrites its line', '10%\r50%\r100%\r\ndone', '10%\n50%\n100%\ndone'],
    ['only carriage returns', '\r\r\n\r', '\n\n\n'],
  ])('[fault 55] takes out %s', (_, raw, text) => {
    expect(clean(raw)).toBe(text);
  });

  it('[fault 55] keeps tabs, line ends and every script', () => {
    const text = 'a\tb\nc é 漢字 العربية नमस्ते 👩‍👩‍👧‍👦 می‌خواهم 🇩🇪 \u00a0';
    expect(clean(text)).toBe(text);
  });

  it.each([
    ['a colour that ends with the text', 'a\x1b[31', 'a31'],
    ['a title that the line ends', 'a\x1b]0;not a title\nmuch text\x07', 'a0;not a title\nmuch text'],
    ['an escape before a letter of no sequence', 'a\x1bé', 'aé'],
    ['a colour with a letter of no sequence inside', 'a\x1b[3é1m', 'a3é1m'],
    ['a quotation mark that was decoded as Latin-1', 'say â\x80\x9dthisâ\x80\x9c now', 'say âthisâ now'],
  ])('[fault 55] loses no text to %s', (_, raw, text) => {
    expect(clean(raw)).toBe(text);
  });

  it('[fault 34] shows what would reorder or hide text, and keeps what writes it', () => {
    expect(clean('rm \u202e txt.\u202d \u2066x\u2069 a\u200bb c\u2060d e\ufefff \u200e\u200f\u061c')).toBe(
      'rm ⟨U+202E⟩ txt.⟨U+202D⟩ ⟨U+2066⟩x⟨U+2069⟩ a⟨U+200B⟩b c⟨U+2060⟩d e⟨U+FEFF⟩f ⟨U+200E⟩⟨U+200F⟩⟨U+061C⟩',
    );
    expect(clean('👩‍👧 می‌خواهم')).toBe('👩‍👧 می‌خواهم');
  });

  it('puts a replacement character for half a surrogate pair', () => {
    expect(clean('a\ud83db\ude00c\ud83d')).toBe('a\ufffdb\ufffdc\ufffd');
  });

  it('gives clean text back as it is', () => {
    expect(sanitise('plain 😀 text', false)).toEqual({ text: 'plain 😀 text', consumed: 13 });
  });

  it.each([
    ['half a surrogate pair', 'ab\ud83d'],
    ['a carriage return', 'ab\r'],
    ['an escape', 'ab\x1b'],
    ['a colour', 'ab\x1b[38;5'],
    ['a title', 'ab\x1b]0;tit'],
    ['a title about to end', 'ab\x1b]0;title\x1b'],
    ['an 8-bit title', 'ab\x9d0;title'],
    ['a character set', 'ab\x1b('],
  ])('holds back %s that may go on', (_, raw) => {
    expect(sanitise(raw, false)).toEqual({ text: 'ab', consumed: 2 });
  });

  it('does not hold back for ever what nothing ends', () => {
    const endless = `a\x1b]0;${'x'.repeat(5000)}`;
    expect(sanitise(endless, false)).toEqual({ text: `a0;${'x'.repeat(5000)}`, consumed: endless.length });
    expect(sanitise(endless.slice(0, 4000), false)).toEqual({ text: 'a', consumed: 1 });
  });

  it.each([4090, 4091, 4092, 4093, 4094, 4095, 4096, 4097])(
    'decides on a title of %d units alike, however it arrives',
    (length) => {
      const raw = `a\x1b]0;${'x'.repeat(length - 4)}\x1b\\b`;
      const whole = clean(raw);
      expect(streamed(Array.from({ length: raw.length }, (_, at) => raw.slice(at, at + 1)))).toBe(whole);
      for (const cut of [4094, 4095, 4096, 4097, 4098]) {
        expect(streamed([raw.slice(0, cut), raw.slice(cut)])).toBe(whole);
      }
    },
  );

  property.prop([nasty, fc.array(fc.nat(), { maxLength: 12 })], { numRuns: 1000 })(
    'reads the same however it was cut into deltas',
    (text, places) => {
      expect(streamed(cutAt(text, places))).toBe(clean(text));
      expect(streamed(Array.from({ length: text.length }, (_, at) => text.slice(at, at + 1)))).toBe(clean(text));
    },
  );

  property.prop([nasty])('holds no control, nothing invisible and no half character', (text) => {
    expect(clean(text)).not.toMatch(
      /[^\P{Cc}\t\n]|[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]|\p{Cs}/u,
    );
  });
});

describe('text that a person decides on', () => {
  it('[fault 34] hides nothing that would run: no sequence is taken out', () => {
    expect(reveal('echo ok; \x1b]0;\x07rm -rf ~\x9c \x1b[8mhidden')).toBe(
      'echo ok; ⟨U+001B⟩]0;⟨U+0007⟩rm -rf ~⟨U+009C⟩ ⟨U+001B⟩[8mhidden',
    );
    expect(reveal('echo a\rrm -rf ~\r\n\tb')).toBe('echo a⟨U+000D⟩rm -rf ~\n\tb');
  });

  it('[fault 34] shows reordering, fillers, tags and joiners that join nothing', () => {
    expect(reveal('a\u202eb\u3164c\u{e0041}d\u200de\u2028f\ud83d')).toBe(
      'a⟨U+202E⟩b⟨U+3164⟩c⟨U+E0041⟩d⟨U+200D⟩e⟨U+2028⟩f⟨U+D83D⟩',
    );
    expect(reveal('👩‍👧 می‌خواهم ❤️')).toBe('👩‍👧 می‌خواهم ❤️');
  });

  property.prop([nasty])('can be read back to what it was', (text) => {
    const raw = text.replace(/\r+\n/g, '\n');
    const back = reveal(raw).replace(/⟨U\+([0-9A-F]{4,6})⟩/g, (_, hex: string) =>
      String.fromCodePoint(parseInt(hex, 16)),
    );
    expect(back).toBe(raw);
  });
});
