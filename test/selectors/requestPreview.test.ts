import { describe, expect, it } from 'vitest';
import type { JsonObject, RequestBody } from '../../src/protocol/requests.js';
import { PART_LIMIT } from '../../src/selectors/bounds.js';
import { answersOf } from '../../src/selectors/answers.js';
import { previewOf, titleOf } from '../../src/selectors/requestPreview.js';

type Approval = Extract<RequestBody, { kind: 'approval' }>;

function approval(tool: string, args: JsonObject | null, rest: Partial<Approval> = {}): RequestBody {
  return { kind: 'approval', tool, subject: null, args, decisions: null, childAgent: null, ...rest };
}
const elicitation = (message: string, schema: JsonObject | null = null): RequestBody => ({
  kind: 'elicitation',
  message,
  schema,
});
const labels = (body: RequestBody) => answersOf(7, body).map(({ label }) => label);
const decided = (body: RequestBody) =>
  answersOf(7, body).map(({ response }) => (response.kind === 'approval' ? response.decision : response.action));

const QUESTIONS = Array.from({ length: 64 }, (_, i) => [`q${i}`, { description: 'y'.repeat(2000) }] as const);

describe('the preview of an approval', () => {
  it('is the command', () => {
    expect(previewOf(approval('bash', { command: 'printf hi', timeout_ms: 5 }))).toBe('printf hi');
    expect(previewOf(approval('Bash', { command: 'printf hi', description: 'say hi' }))).toBe('printf hi');
    expect(previewOf(approval('bash', null, { subject: 'printf hi' }))).toBe('printf hi');
    expect(previewOf(approval('bash', { command: ['bash', '-lc', 'ls | wc'] }))).toBe('bash -lc "ls | wc"');
  });

  it('says why a command wants out of the sandbox', () => {
    const args = { command: 'rm x', with_escalated_permissions: true, justification: 'to clean up', cwd: '/tmp' };
    expect(previewOf(approval('bash', args))).toBe(
      'rm x\n\nIn: /tmp\nAsks to run outside the sandbox.\nReason: to clean up',
    );
    expect(previewOf(approval('Bash', { command: 'rm x', dangerouslyDisableSandbox: true }))).toBe(
      'rm x\n\nAsks to run outside the sandbox.',
    );
  });

  it('shows the arguments that it has no words for', () => {
    expect(previewOf(approval('bash', { command: 'ls', run_in_background: true }))).toBe(
      'ls\n\nWith: {\n  "run_in_background": true\n}',
    );
    expect(previewOf(approval('write', { path: 'x', content: 'y', mode: 511 }))).toBe(
      'x\n\ny\n\nWith: {\n  "mode": 511\n}',
    );
    expect(previewOf(approval('edit', { path: 'x', old_string: 'a', new_string: 'b', z: [] }))).toBe(
      'x\n-a\n+b\n\nWith: {\n  "z": []\n}',
    );
    expect(previewOf(approval('apply_patch', { patch: '+a', to: '/' }))).toBe('+a\n\nWith: {\n  "to": "/"\n}');
  });

  it('[fault 36] [defect C42] says of a file and of arguments how much is missing, below their path', () => {
    const file = previewOf(approval('Write', { file_path: 'n', content: 'x'.repeat(1_000_000) })) ?? '';
    const [, kept = '', missing = ''] = /^n\n\n(x*)… \(([\d,]+) more characters\)$/.exec(file) ?? [];
    expect(kept.length + Number(missing.replaceAll(',', ''))).toBe(1_000_000);
    expect(previewOf(approval('other', { path: 'n', more: 'x'.repeat(1_000_000) }))).toMatch(
      /^n\n\n\{[^]*x… \(93\d,\d{3} more characters\)\n… \(the rest is left out\)$/,
    );
  });

  it('keeps the reason in view behind a command that is too long', () => {
    const preview = previewOf(approval('bash', { command: 'x'.repeat(200_000), justification: 'trust me' })) ?? '';
    expect(preview.length).toBeLessThanOrEqual(PART_LIMIT);
    expect(preview).toMatch(/x… \(134,\d{3} more characters\)\n\nReason: trust me$/);
  });

  it('is what an edit replaces, and by what', () => {
    const edit = { path: 'notes.txt', old_string: 'beta\ngamma\n', new_string: 'delta\n' };
    const seen = 'notes.txt\n-beta\n-gamma\n+delta';
    expect(previewOf(approval('edit_file', edit))).toBe(seen);
    expect(
      previewOf(approval('Edit', { file_path: 'notes.txt', old_string: 'a', new_string: 'b', replace_all: true })),
    ).toBe('notes.txt\n(every occurrence)\n-a\n+b');
    expect(previewOf(approval('Edit', { file_path: 'n', old_string: '', new_string: 'b' }))).toBe('n\n+b');
    expect(previewOf(approval('Edit', { file_path: 'n', old_string: 'a', new_string: '' }))).toBe('n\n-a');
    expect(previewOf(approval('Edit', { file_path: 'n', old_string: 'a', new_string: 'a\n' }))).toBe('n\n-a\n+a\n+');
  });

  it('[fault 36] shows the new text however long the old one is', () => {
    const preview =
      previewOf(approval('Edit', { file_path: 'n', old_string: 'a\n'.repeat(500_000), new_string: 'the new text' })) ??
      '';
    expect(preview.length).toBeLessThanOrEqual(PART_LIMIT);
    expect(preview).toMatch(/-a\n-?… \([\d,]+ more characters\)\n\+the new text$/);
  });

  it('[defect C42] is the path and the new contents of a file', () => {
    expect(previewOf(approval('write_file', { path: 'new.txt', content: 'one\ntwo\n' }))).toBe('new.txt\n\none\ntwo\n');
    expect(previewOf(approval('Write', { file_path: '/w/new.txt', content: '' }))).toBe('/w/new.txt\n\n(empty)');
  });

  it('is the patch', () => {
    const patch = '*** Begin Patch\n*** Update File: notes.txt\n@@\n-alpha\n+omega\n*** End Patch\n';
    expect(previewOf(approval('apply_patch', { patch }, { subject: patch }))).toBe(patch);
    expect(previewOf(approval('apply_patch', null, { subject: patch }))).toBe(patch);
  });

  it.each(['😀', '👩‍👩‍👧', 'e\u0301'])('[fault 36] of a patch above 64 KiB says so and parts no %s', (character) => {
    const patch = `+${character.repeat(PART_LIMIT)}`;
    const preview = previewOf(approval('apply_patch', { patch })) ?? '';
    const [, kept = '', missing = ''] = /^(.*)… \(([\d,]+) more characters\)$/s.exec(preview) ?? [];
    expect(preview.length).toBeLessThanOrEqual(PART_LIMIT);
    expect(kept.length).toBeGreaterThan(PART_LIMIT - 100);
    expect((kept.length - 1) % character.length).toBe(0);
    expect(kept.length + Number(missing.replaceAll(',', ''))).toBe(patch.length);
  });

  it('is the arguments of any other tool, its path first', () => {
    expect(previewOf(approval('fetch', { url: 'https://x', deep: { a: [1] } }))).toBe(
      '{\n  "url": "https://x",\n  "deep": {\n    "a": [\n      1\n    ]\n  }\n}',
    );
    expect(previewOf(approval('mcp__fs__rm', { recursive: true, path: '/x' }))).toBe(
      '/x\n\n{\n  "recursive": true,\n  "path": "/x"\n}',
    );
    expect(previewOf(approval('Edit', { file_path: '/x', edits: [1] }))).toMatch(/^\/x\n\n\{\n/);
    expect(previewOf(approval('write_file', { path: '/x', content: 7 }))).toMatch(/^\/x\n\n\{\n/);
  });

  it('is the subject where there are no arguments, and undefined where there is nothing', () => {
    expect(previewOf(approval('fetch', null, { subject: 'https://x' }))).toBe('https://x');
    expect(previewOf(approval('fetch', {}, { subject: 'https://x' }))).toBe('https://x');
    expect([previewOf(approval('fetch', {})), previewOf(approval('bash', null))]).toEqual([undefined, undefined]);
    expect(previewOf({ kind: 'other', preview: '' })).toBeUndefined();
  });

  it.each<[string, RequestBody]>([
    ['a command', approval('bash', { command: 'ls \u202e#\u200b \x1b[8mrm\x07\r' })],
    ['an edit', approval('Edit', { file_path: 'a\u202e', old_string: '\x1b]0;', new_string: '\u2066' })],
    ['a file', approval('Write', { file_path: 'a\u202e', content: '\x9b1m\0' })],
    ['a patch', approval('apply_patch', { patch: '+\u202e\x1b[8m' })],
    ['arguments', approval('x', { path: '\u202e', '\u200b': '\u202e\x9b' })],
    ['a subject', approval('x', null, { subject: '\u202e\x1b' })],
    ['a message', elicitation('\u202e\x1b', { properties: { '\u202e': { description: '\x1b\u202e' } } })],
    ['a payload', { kind: 'other', preview: '\u202e\x1b' }],
  ])('[fault 34] shows in %s what would hide or reorder it', (_, body) => {
    for (const text of [previewOf(body) ?? '', titleOf(body)]) {
      expect(text).not.toMatch(/[^\P{Cc}\n]|[\u200b\u202e\u2066]/u);
    }
    expect(previewOf(body)).toMatch(/⟨U\+(?:202E|001B|009B)⟩/);
  });

  it.each<[string, RequestBody]>([
    ['a command', approval('bash', { command: 'x'.repeat(10_000_000), justification: 'y'.repeat(10_000_000) })],
    [
      'an edit',
      approval('Edit', { file_path: 'p'.repeat(1e6), old_string: '\n'.repeat(1e6), new_string: '\n'.repeat(1e6) }),
    ],
    ['a file', approval('Write', { file_path: 'p'.repeat(1e6), content: '\u202e'.repeat(1e6) })],
    ['arguments', approval('x'.repeat(1e6), { path: 'p'.repeat(1e6), list: Array<number>(1e6).fill(1) })],
    ['a message', elicitation('\n'.repeat(1e6), { properties: { x: { enum: Array<string>(1e6).fill('\u202e') } } })],
    ['questions', elicitation('?', { properties: Object.fromEntries(QUESTIONS) })],
    ['a payload', { kind: 'other', preview: 'x'.repeat(1e6) }],
  ])('[fault 36] keeps %s of megabytes to its bound, and says so', (_, body) => {
    const preview = previewOf(body) ?? '';
    expect(preview.length).toBeLessThanOrEqual(PART_LIMIT);
    expect(preview).toMatch(/… \([\d,]+ more characters\)|… \(the rest is left out\)/);
    expect(titleOf(body).length).toBeLessThanOrEqual(256);
  });
});

describe('the preview of an elicitation', () => {
  it('is the message and what will be asked', () => {
    const schema: JsonObject = {
      properties: {
        q1: {
          title: 'Database',
          description: 'Which one?',
          'x-options': [{ label: 'sqlite', description: 'one file' }],
        },
        q2: { title: 'Platforms', type: 'array', items: { enum: ['linux'] } },
      },
      required: ['q1'],
    };
    expect(previewOf(elicitation('Choose:', schema))).toBe(
      'Choose:\n\nDatabase: Which one?\n  - sqlite: one file\nPlatforms (several answers, optional)\n  - linux',
    );
    expect(previewOf(elicitation(''))).toBeUndefined();
  });

  it('[fault 37] of a schema that refers to itself, or is none, still says what is asked', () => {
    expect(previewOf(elicitation('Choose:', { $ref: '#' }))).toBe('Choose:\n\nAnswer');
    expect(previewOf(elicitation('Choose:', { properties: 7 }))).toBe('Choose:\n\nAnswer');
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`p${i}`, { $ref: '#' }]));
    expect(previewOf(elicitation('Choose:', { properties: many }))).toMatch(/\n\n… \(36 more questions\)$/);
  });
});

describe('the title of a request', () => {
  it.each<[string, RequestBody]>([
    ['bash: printf hi', approval('bash', { command: 'printf hi' }, { subject: 'printf hi' })],
    ['Bash: echo a …', approval('Bash', { command: '\n echo a\nrm -rf ~\n' })],
    ['Edit: /w/notes.txt', approval('Edit', { file_path: '/w/notes.txt' })],
    [
      'apply_patch: a.txt, b.txt',
      approval('apply_patch', { patch: '*** Begin Patch\n*** Add File: a.txt\n*** Delete File: b.txt' }),
    ],
    ['bash (agent worker-1): ls', approval('bash', { command: 'ls' }, { childAgent: 'worker-1' })],
    ['fetch', approval('fetch', { url: 'x' })],
    ['tool', approval(' ', null)],
    ['Which database?', elicitation('Which database?')],
    ['Which? …', elicitation('Which?\r\nSay it.')],
    ['The runtime asks', elicitation(' ')],
    ['The runtime asks', { kind: 'other', preview: '{}' }],
  ])('is %s', (title, body) => {
    expect(titleOf(body)).toBe(title);
  });

  it('[fault 56] has 256 units at most and parts no character', () => {
    const title = titleOf(approval('bash', { command: `${'x'.repeat(248)}😀 and more` }));
    expect(title).toBe(`bash: ${'x'.repeat(248)}…`);
    expect(titleOf(elicitation(`${'x'.repeat(256)}\nmore`)).length).toBe(256);
  });
});

describe('the answers to a request', () => {
  it('are all three where the runtime names none', () => {
    expect(answersOf(7, approval('bash', null))).toEqual([
      { label: 'Allow', response: { kind: 'approval', request_id: 7, decision: 'allow' } },
      { label: 'Allow for session', response: { kind: 'approval', request_id: 7, decision: 'allow_for_session' } },
      { label: 'Deny', response: { kind: 'approval', request_id: 7, decision: 'deny' } },
    ]);
  });

  it('[fault 34] are exactly those offered, in their order, each once', () => {
    const body = approval('bash', null, { decisions: ['deny', 'allow', 'deny', 'acceptEdits', 'ask_again'] });
    expect(labels(body)).toEqual(['Deny', 'Allow', 'Accept edits', 'Ask again']);
    expect(decided(body)).toEqual(['deny', 'allow', 'acceptEdits', 'ask_again']);
  });

  it('[fault 34] are none where none is offered', () => {
    expect(answersOf(7, approval('bash', null, { decisions: [] }))).toEqual([]);
  });

  it('[fault 34] are at most 32, and a person can always say no', () => {
    const many = Array.from({ length: 200 }, (_, i) => `choice_${i}`);
    expect(decided(approval('bash', null, { decisions: many }))).toEqual(many.slice(0, 32));
    expect(decided(approval('bash', null, { decisions: [...many, 'deny'] }))).toEqual([...many.slice(0, 31), 'deny']);
  });

  it('[fault 34] have labels of their own where they would look alike', () => {
    const body = approval('bash', null, { decisions: ['allow', 'Allow', 'ALLOW', 'allow\n', 'allow (2)', ''] });
    expect(labels(body)).toEqual(['Allow', 'Allow (2)', 'ALLOW', 'Allow (3)', 'Allow (2) (2)', 'Unnamed']);
    expect(new Set(decided(body)).size).toBe(6);
  });

  it('[fault 34] have short labels in which nothing hides', () => {
    const body = approval('bash', null, { decisions: ['\u202eyned', 'a\u200b', 'x'.repeat(1_000_000), '\x1b[8mdeny'] });
    expect(labels(body)).toEqual(['⟨U+202E⟩yned', 'A⟨U+200B⟩', `X${'x'.repeat(78)}…`, '⟨U+001B⟩[8mdeny']);
    expect(decided(body)[0]).toBe('\u202eyned');
  });

  it('of an elicitation ask for content first where it has some', () => {
    const plain = ['Accept', 'Decline', 'Cancel'];
    expect(answersOf(7, elicitation('?', { properties: { x: {} } }))).toEqual([
      { label: 'Answer…', response: { kind: 'elicitation', request_id: 7, action: 'accept', content: null } },
      { label: 'Decline', response: { kind: 'elicitation', request_id: 7, action: 'decline', content: null } },
      { label: 'Cancel', response: { kind: 'elicitation', request_id: 7, action: 'cancel', content: null } },
    ]);
    expect(labels(elicitation('?', { $ref: '#' }))).toEqual(['Answer…', 'Decline', 'Cancel']);
    expect([labels(elicitation('?')), labels(elicitation('?', { type: 'object' }))]).toEqual([plain, plain]);
  });

  it('of another request are accept, decline and cancel', () => {
    expect(answersOf(7, { kind: 'other', preview: '{}' })).toEqual([
      { label: 'Accept', response: { kind: 'other', request_id: 7, action: 'accept', content: null } },
      { label: 'Decline', response: { kind: 'other', request_id: 7, action: 'decline', content: null } },
      { label: 'Cancel', response: { kind: 'other', request_id: 7, action: 'cancel', content: null } },
    ]);
  });
});
