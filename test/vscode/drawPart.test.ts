import { describe, expect, it, vi } from 'vitest';
import { EDITOR_PARTS, type ChatPart, type DiffPart, type TextPart, type ToolPart } from '../../src/selectors/parts.js';
import { PartDrawer } from '../../src/vscode/drawPart.js';
import { PROPOSALS, type Proposal } from '../../src/vscode/grants.js';
import { FakeEditor } from '../doubles/editor.js';
import { MarkdownString } from '../doubles/vscode/basics.js';
import {
  ChatResponseCodeblockUriPart,
  ChatResponseMarkdownPart,
  ChatResponseProgressPart,
  ChatResponseReferencePart,
  ChatResponseThinkingProgressPart,
  ChatResponseWarningPart,
  ChatToolInvocationPart,
} from '../doubles/vscode/chatParts.js';
import type { ResponseStream } from '../doubles/vscode/responseStream.js';
import { Uri } from '../doubles/vscode/uri.js';
import { AttachedEditor, script } from './attachedEditor.js';

const FOLDER = '/home/space';
const ALL: readonly Proposal[] = PROPOSALS;
const BUTTON = { command: 'supercode.frontend.respond', title: 'Allow' };

interface Canvas {
  readonly drawer: PartDrawer;
  readonly stream: ResponseStream;
}

/** One response of an editor that grants these proposals, and has this folder open. */
function canvas(grants: readonly Proposal[], folders: readonly string[] = [FOLDER]): Canvas {
  const stream = new FakeEditor({ proposals: grants, folders }).responseStream();
  const drawer = new PartDrawer({ stream, grants: new Set(grants), buttons: () => [BUTTON] });
  return { drawer, stream };
}

function drawn(parts: readonly ChatPart[], grants: readonly Proposal[], folders?: readonly string[]): ResponseStream {
  const { drawer, stream } = canvas(grants, folders);
  for (const part of parts) drawer.draw(part);
  drawer.end();
  return stream;
}

const kindsOf = ({ parts }: ResponseStream) => parts.map((part) => part.constructor.name);
const referencesOf = ({ parts }: ResponseStream) =>
  parts.flatMap((part) =>
    part instanceof ChatResponseReferencePart && part.value instanceof Uri ? part.value.toString() : [],
  );

const text = (kind: TextPart['kind'], said: string, id = '1'): TextPart => ({
  kind,
  id,
  text: said,
  editor: EDITOR_PARTS[kind],
});
const tool = (rest: Partial<ToolPart>): ToolPart => ({
  kind: 'tool',
  id: '1',
  callId: 'call-1',
  name: 'bash',
  phase: 'completed',
  editor: EDITOR_PARTS.tool,
  ...rest,
});
const PATCH = '--- a/src/x.ts\n+++ b/src/x.ts\n@@ -1 +1 @@\n-a\n+b\n';
const diff = (files: readonly string[], patch = PATCH): DiffPart => ({
  kind: 'diff',
  id: '1',
  patch,
  files,
  editor: EDITOR_PARTS.diff,
});

/** A part of each kind that says this. */
function partsSaying(said: string): { readonly [K in ChatPart['kind']]: ChatPart } {
  return {
    markdown: text('markdown', said),
    progress: text('progress', said),
    warning: text('warning', said),
    thinking: text('thinking', said),
    notice: text('notice', said),
    output: text('output', said),
    tool: tool({ name: said, input: said, output: said }),
    diff: diff([said], said),
    request: {
      kind: 'request',
      id: '1',
      requestId: 1,
      requestKind: 'approval',
      title: said,
      preview: said,
      answers: [],
      unanswerable: said,
      editor: EDITOR_PARTS.request,
    },
    resolution: { kind: 'resolution', id: '1', requestId: 1, text: said, editor: EDITOR_PARTS.resolution },
    opaque: { kind: 'opaque', id: '1', eventKind: said, text: said, editor: EDITOR_PARTS.opaque },
  };
}

const MARKDOWN = ['ChatResponseMarkdownPart'];
const DIFF = [...MARKDOWN, 'ChatResponseCodeblockUriPart', ...MARKDOWN, 'ChatResponseReferencePart'];
const BUTTONS = [...MARKDOWN, 'ChatResponseCommandButtonPart'];

describe('a part', () => {
  it.each<[ChatPart['kind'], granted: readonly string[], stock: readonly string[]]>([
    ['markdown', MARKDOWN, MARKDOWN],
    ['progress', ['ChatResponseProgressPart'], ['ChatResponseProgressPart']],
    ['warning', ['ChatResponseWarningPart'], MARKDOWN],
    ['thinking', ['ChatResponseThinkingProgressPart'], MARKDOWN],
    ['notice', MARKDOWN, MARKDOWN],
    ['output', MARKDOWN, MARKDOWN],
    ['tool', ['ChatToolInvocationPart'], MARKDOWN],
    ['diff', DIFF, [...MARKDOWN, 'ChatResponseReferencePart']],
    ['request', BUTTONS, BUTTONS],
    ['resolution', MARKDOWN, MARKDOWN],
    ['opaque', MARKDOWN, MARKDOWN],
  ])('of the kind %s is drawn as its own part where that is granted, else as stable ones', (kind, granted, stock) => {
    const part = partsSaying('some words')[kind];
    // The stock stream refuses, in the editor's words, whatever needs a grant.
    expect([kindsOf(drawn([part], ALL)), kindsOf(drawn([part], []))]).toEqual([granted, stock]);
    const own = { markdown: 'ChatResponseMarkdownPart', progress: 'ChatResponseProgressPart' } as const;
    const named = part.editor.part;
    expect(granted).toContain(named in own ? own[named as keyof typeof own] : named);
  });

  it('needs the one proposal that it is of: all others do not help', () => {
    const others = PROPOSALS.filter((proposal) => proposal !== 'chatParticipantAdditions');
    for (const part of Object.values(partsSaying('some words'))) {
      expect(kindsOf(drawn([part], others))).toEqual(kindsOf(drawn([part], [])));
      expect(kindsOf(drawn([part], ['chatParticipantAdditions']))).toEqual(kindsOf(drawn([part], ALL)));
    }
  });

  it('of assistant text is given on as it is, piece by piece', () => {
    const pieces = [text('markdown', '# One **tw'), text('markdown', 'o** 🙂\n')];
    for (const grants of [ALL, []]) {
      expect(drawn(pieces, grants).parts.map((part) => 'value' in part && part.value)).toEqual([
        new MarkdownString('# One **tw'),
        new MarkdownString('o** 🙂\n'),
      ]);
    }
  });
});

describe('reasoning', () => {
  const thoughts = [text('thinking', 'First this,\n'), text('thinking', 'then that.')];

  it('streams under its own id where that is granted', () => {
    const parts = drawn(thoughts, ALL).parts;
    expect(parts).toEqual([
      new ChatResponseThinkingProgressPart('First this,\n', '1'),
      new ChatResponseThinkingProgressPart('then that.', '1'),
    ]);
  });

  it('gathers to one quotation elsewhere, drawn in front of what follows', () => {
    const { drawer, stream } = canvas([]);
    for (const thought of thoughts) drawer.draw(thought);
    expect(stream.parts).toEqual([]);
    drawer.draw(text('markdown', 'So.'));
    expect(stream.text).toBe('\n\n> First this\\,  \n> then that\\.\n\nSo.');
    drawer.end();
    expect(stream.parts).toHaveLength(2);
  });

  it('that nothing follows is drawn at the end, once', () => {
    const { drawer, stream } = canvas([]);
    drawer.draw(text('thinking', 'Hm.'));
    drawer.end();
    drawer.end();
    expect(stream.text).toBe('\n\n> Hm\\.\n\n');
  });
});

describe('a tool', () => {
  const input = '{"command":"ls"}';

  it('is one row that is changed in place', () => {
    const { parts } = drawn([tool({ phase: 'started', input }), tool({ input, output: 'a.ts', isError: false })], ALL);
    expect(parts).toMatchObject([
      { toolCallId: 'call-1', isComplete: false, toolSpecificData: { input, output: '' } },
      { toolCallId: 'call-1', isComplete: true, isError: false, toolSpecificData: { input, output: 'a.ts' } },
    ]);
    for (const row of parts as ChatToolInvocationPart[]) {
      expect([row.enablePartialUpdate, row.isConfirmed]).toEqual([true, true]);
    }
  });

  it.each([
    [{ output: 'a.ts' }, 'Ran `bash`'],
    [{ output: 'no', isError: true }, 'Failed: `bash`'],
    [{ phase: 'abandoned' }, 'Never heard the end of `bash`'],
    [{ input: 'ls -l' }, 'Ran `bash` `ls -l`'],
    [{ input: 'x'.repeat(81) }, 'Ran `bash`'],
    [{ input: 'two\nlines' }, 'Ran `bash`'],
  ] as const)('that came to %j is called %s', (rest, said) => {
    const [row] = drawn([tool(rest)], ALL).parts;
    expect((row as ChatToolInvocationPart).pastTenseMessage).toEqual(new MarkdownString(said));
    expect(row).toMatchObject({ isError: 'isError' in rest, isComplete: true });
  });

  it('elsewhere is a line of progress, and then labelled Markdown', () => {
    const { parts, text: said } = drawn([tool({ phase: 'started', input }), tool({ input, output: 'a.ts' })], []);
    expect(parts[0]).toBeInstanceOf(ChatResponseProgressPart);
    expect(said).toContain('**Tool** `bash` finished');
    expect(said).toContain('```\na.ts\n```');
  });
});

describe('a diff', () => {
  it('has its first file in front of the code that the block shows', () => {
    const { parts } = drawn([diff(['src/x.ts', 'src/y.ts'])], ALL);
    const [head, uri, rest] = parts;
    expect(head).toEqual(new ChatResponseMarkdownPart('\n\n**Changes** in `src/x.ts`, `src/y.ts`\n\n```diff\n'));
    expect(uri).toEqual(
      new ChatResponseCodeblockUriPart(expect.objectContaining({ path: `${FOLDER}/src/x.ts` }) as never),
    );
    expect(rest).toEqual(new ChatResponseMarkdownPart(`${PATCH}\`\`\`\n\n`));
  });

  it('is shown by the same text in every editor', () => {
    const part = diff(['src/x.ts'], `${PATCH}+\`\`\`\`\n`);
    expect(drawn([part], ALL).text).toBe(drawn([part], []).text);
  });

  it.each([
    [
      ['src/x.ts', 'y.md'],
      [`file://${FOLDER}/src/x.ts`, `file://${FOLDER}/y.md`],
    ],
    [['/etc/hosts'], ['file:///etc/hosts']],
    [['a name #1?.ts'], [`file://${FOLDER}/a%20name%20%231%3F.ts`]],
    [[], []],
  ])('of %j refers to %j', (files, references) => {
    for (const grants of [ALL, []]) expect(referencesOf(drawn([diff(files)], grants))).toEqual(references);
  });

  it('takes a Windows path for a whole one', () => {
    expect(referencesOf(drawn([diff(['C:\\a\\b.ts', '\\\\host\\b.ts'])], []))).toHaveLength(2);
    expect(referencesOf(drawn([diff(['C:\\a\\b.ts'])], [])).join()).not.toContain(FOLDER);
  });

  it('without a folder refers to nothing that can’t be found, and is a plain block', () => {
    for (const grants of [ALL, []]) {
      const stream = drawn([diff(['src/x.ts'])], grants, []);
      expect(kindsOf(stream)).toEqual(MARKDOWN);
      expect(stream.text).toContain(`\`\`\`diff\n${PATCH}\`\`\``);
    }
    expect(referencesOf(drawn([diff(['src/x.ts', '/etc/hosts'])], ALL, []))).toEqual(['file:///etc/hosts']);
  });
});

describe('text from outside', () => {
  const HOSTILE = [
    '# [run](command:workbench.action.quit) ![x](https://evil.test/x.png) <img src=x> $(trash) `code` **b** _i_ ~~s~~',
    '```',
    '[after the fence](command:x)',
    '````',
    '~~~',
    '> - [ ] $(trash)',
    'https://evil.test <https://evil.test>',
    '`` ` ``',
  ].join('\n');

  /** What of Markdown is outside of code. */
  function outsideOfCode(markdown: string): string {
    const fences = /^(`{3,})[^`\n]*\n[\s\S]*?^\1$/gm;
    return markdown.replace(fences, '').replace(/(?<![\\`])(`+)(?!`)[^\n]*?(?<!`)\1(?!`)/g, '');
  }

  /** What of it would be drawn as something else than its words; quotations, emphasis and headings are our own. */
  const ACTIVE = /(?<!\\)(?:[[\]<`$]|~~)|^#{1,3} |(?<!\\):\/\//m;

  function markdownIn(part: object): readonly MarkdownString[] {
    if (part instanceof ChatResponseProgressPart) return [new MarkdownString(part.value)];
    return Object.values(part).filter((value) => value instanceof MarkdownString);
  }

  it.each(Object.values(partsSaying(HOSTILE)).filter(({ kind }) => kind !== 'markdown'))(
    'in a part of the kind $kind stays text: no link, image, icon, tag or heading, and no fence ends early',
    (part) => {
      for (const grants of [ALL, []]) {
        const stream = drawn([part], grants);
        const all = stream.parts.filter((each) => !(each instanceof ChatResponseMarkdownPart)).flatMap(markdownIn);
        for (const { value } of [...all, new MarkdownString(stream.text)]) {
          expect(outsideOfCode(value)).not.toMatch(ACTIVE);
        }
      }
    },
  );

  it('is never trusted, has no HTML and no icons', () => {
    for (const grants of [ALL, []]) {
      const all = drawn(Object.values(partsSaying(HOSTILE)), grants).parts.flatMap(markdownIn);
      expect(all.length).toBeGreaterThan(5);
      for (const { isTrusted, supportHtml, supportThemeIcons } of all) {
        expect([isTrusted, supportHtml, supportThemeIcons]).toEqual([undefined, undefined, false]);
      }
    }
  });

  it('is found by this very test where it is not escaped', () => {
    for (const line of ['[a](command:x)', '$(trash)', '<b>', '# heading', '~~s~~', 'https://x', '```\nx']) {
      expect(outsideOfCode(`some\n${line}\n`)).toMatch(ACTIVE);
    }
    expect(new ChatResponseWarningPart(HOSTILE).value.value).toMatch(ACTIVE);
  });
});

describe.each([
  ['stock', false],
  ['granted', true],
])('the response of a stopped prompt in the %s editor', (_, granted) => {
  it('is not written to any more, not even in vain', async () => {
    const attached = await AttachedEditor.open({ granted });
    const turn = attached.send(
      script({ chunks: ['one ', 'two '], delay: 20, calls: [{ name: 'read_file', args: { path: 'x' } }] }),
    );
    await turn.stream.until(({ buttons }) => buttons.length > 0);
    turn.stop();
    const spies = (['markdown', 'progress', 'button', 'reference', 'push', 'warning', 'thinkingProgress'] as const).map(
      (name) => vi.spyOn(turn.stream, name),
    );
    await turn.result;
    await attached.send('and on').result;
    for (const spy of spies) expect(spy).not.toHaveBeenCalled();
  });
});
