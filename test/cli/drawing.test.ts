import { fc, it as propertyIt } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { MarkdownStream } from '../../src/cli/markdownStream.js';
import { PartDrawing } from '../../src/cli/partDrawing.js';
import { Screen, type Canvas } from '../../src/cli/screen.js';
import { aboutCall } from '../../src/cli/toolLine.js';
import { fitted, widthOf, wrapped } from '../../src/cli/width.js';
import { EDITOR_PARTS, type RequestPart, type ToolPart } from '../../src/selectors/parts.js';

interface Drawn {
  readonly canvas: Canvas;
  readonly text: () => string;
}

/** Styles are shown as `<style>text</style>`. */
function paper(columns: number, isLive = false, marked = false): Drawn {
  let written = '';
  return {
    canvas: {
      paint: (style, text) => (marked && text !== '' ? `<${String(style)}>${text}</>` : text),
      columns: () => columns,
      write: (text) => {
        written += text;
      },
      isLive,
    },
    text: () => written,
  };
}

function drawn(pieces: readonly string[], columns = 40, marked = false): string {
  const { canvas, text } = paper(columns, false, marked);
  const screen = new Screen(canvas);
  const stream = new MarkdownStream(screen);
  for (const piece of pieces) stream.write(piece);
  stream.end();
  screen.render();
  return text();
}

describe('Markdown as it streams', () => {
  it.each([
    ['wraps at words', 'one two three four', 'one two\nthree\nfour', 8],
    ['keeps line ends', 'one\ntwo', 'one\ntwo', 40],
    ['leaves one empty line between paragraphs', 'one\n\n\n\ntwo', 'one\n\ntwo', 40],
    ['hangs the lines of an item', '- one two three', '• one two\n  three', 10],
    ['numbers items as they are numbered', '3. one two three', '3. one two\n   three', 11],
    ['bars a quotation', '> quoted', '│ quoted', 40],
    ['never wraps code', '```sh\necho one two three four\n```\nover', '│ echo one two three four\nover', 10],
    ['ends code with the fence that began it', '````\n```\n````\nover', '│ ```\nover', 40],
    ['draws code whose end is missing', '```\nhalf', '│ half\n', 40],
    ['never wraps a table', '| a | b |\n|---|---|', '| a | b |\n|---|---|\n', 5],
    ['breaks no word that is too long', 'x'.repeat(20), 'x'.repeat(20), 10],
    ['takes a lone mark as it is', '2 * 3 ** 4 `', '2 * 3 ** 4 `', 40],
    ['takes a year for no item', '1999 was\n1999', '1999 was\n1999', 40],
    ['takes a hash without a blank for no heading', '#tag', '#tag', 40],
  ])('%s', (_, markdown, text, columns) => {
    expect(drawn([markdown], columns)).toBe(text);
  });

  it.each([
    ['a **bold** word', 'a <bold>bold</> word'],
    ['`code` and ``co`de``', '<cyan>code</> and <cyan>co`de</>'],
    ['`**`', '<cyan>**</>'],
    ['**`a`b**', '<cyan>a</><bold>b</>'],
    ['## Heading', '<bold,underline>Heading</>'],
    ['**never closed\n\nplain', '<bold>never</> <bold>closed</>\n\nplain'],
    ['snake_case and a*b', 'snake_case and a*b'],
  ])('%j has its styles', (markdown, text) => {
    expect(drawn([markdown], 40, true)).toBe(text);
  });

  propertyIt.prop([
    fc.array(
      fc.constantFrom('a', 'bc ', '\n', '*', '**', '`', '```', '- ', '# ', '> ', '1. ', '| ', ' ', '🙂', '漢字'),
      {
        maxLength: 40,
      },
    ),
  ])('reads the same however it was cut into pieces, and keeps every word', (pieces) => {
    const whole = drawn([pieces.join('')]);
    expect(drawn(pieces)).toBe(whole);
    expect(drawn(Array.from(pieces.join('')))).toBe(whole);
    const words = (text: string) => text.replace(/[^a-c🙂漢字]/gu, '');
    // What stands behind an opening fence names a language and is not shown.
    if (!pieces.includes('```') && !pieces.join('').includes('```')) expect(words(whole)).toBe(words(pieces.join('')));
  });
});

describe('width', () => {
  it.each([
    ['abc', 3],
    ['漢字', 4],
    ['🙂', 2],
    ['e\u0301', 1],
    ['', 0],
  ])('of %j is %d columns', (text, width) => {
    expect(widthOf(text)).toBe(width);
  });

  it('is kept by a text that is cut, and said', () => {
    expect(fitted('abcdef', 6)).toBe('abcdef');
    expect(fitted('abcdef', 5)).toBe('abcd…');
    expect(fitted('漢字漢字', 5)).toBe('漢字…');
  });

  propertyIt.prop([fc.string({ unit: 'grapheme', maxLength: 80 }), fc.integer({ min: 2, max: 20 })])(
    'is kept by the pieces of a line, and nothing is left out',
    (text, columns) => {
      const pieces = wrapped(text, columns);
      expect(pieces.join('')).toBe(text);
      for (const piece of pieces) expect(widthOf(piece)).toBeLessThanOrEqual(columns);
    },
  );
});

describe('a call', () => {
  const call = (input: string): ToolPart => ({
    kind: 'tool',
    id: '0.1',
    callId: 'c',
    name: 'bash',
    phase: 'started',
    input,
    editor: EDITOR_PARTS.tool,
  });

  it.each([
    ['{"command":"ls -l"}', 'ls -l'],
    ['{"command":["ls","-l"]}', 'ls -l'],
    ['{"command":"one\\ntwo"}', 'one ⏎ two'],
    ['{"file_path":"a.txt","content":"x"}', 'a.txt'],
    ['{"command":"\\u001b[31mred\\u0007"}', 'red'],
    ['{"other":1}', '{"other":1}'],
    ['{}', ''],
    ['not JSON', 'not JSON'],
    ['', ''],
  ])('with %s is about %j', (input, about) => {
    expect(aboutCall(call(input))).toBe(about);
  });
});

describe('a request', () => {
  const request: RequestPart = {
    kind: 'request',
    id: '0.2',
    requestId: 7,
    requestKind: 'approval',
    title: 'bash: something long',
    preview: Array.from({ length: 200 }, (_, at) => `line ${at}`).join('\n'),
    answers: [],
    unanswerable: 'Answer it elsewhere.',
    editor: EDITOR_PARTS.request,
  };

  it('is drawn whole: a person decides on it', () => {
    const { canvas, text } = paper(40);
    const screen = new Screen(canvas);
    new PartDrawing(screen).draw(request);
    screen.render();
    expect(text()).toContain('│ line 199\n');
    expect(text()).toContain('╰ Answer it elsewhere.');
  });
});

describe('the changing lines', () => {
  it('go away before lasting text is written, and come back below it', () => {
    const { canvas, text } = paper(40, true);
    const screen = new Screen(canvas);
    screen.print('begun');
    screen.setLive(['working', 'really']);
    screen.render();
    const first = text();
    expect(first.indexOf('begun')).toBeLessThan(first.indexOf('\x1b7'));
    screen.print(' and done\n');
    screen.render();
    const second = text().slice(first.length);
    expect(second.startsWith('\x1b8')).toBe(true);
    expect(second.indexOf(' and done')).toBeLessThan(second.indexOf('working'));
    screen.render();
    expect(text()).toBe(first + second);
  });

  it('are not drawn where lines can not change', () => {
    const { canvas, text } = paper(40);
    const screen = new Screen(canvas);
    screen.setLive(['working']);
    screen.line('one');
    screen.close();
    expect(text()).toBe('one\n');
  });
});
