import { describe, expect, it } from 'vitest';
import { selectChangedTurns, selectChangesOf } from '../../src/selectors/turnChanges.js';
import { PATCH_LIMIT, turnPatch } from '../../src/selectors/turnPatch.js';
import { delta, event, turnStart } from '../doubles/runtime.js';
import { assistant, call, heard, result, user } from '../store/conversation.js';

const DIFF = '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n';

interface Call {
  readonly name: string;
  readonly args: object | string;
  readonly isError?: boolean;
  readonly isOpen?: boolean;
}

/** A turn of these calls, its events numbered from `from`. */
function turnOf(calls: readonly Call[], from = 1, prompt = 'do it', more: readonly ReturnType<typeof event>[] = []) {
  let sequence = from + 2;
  const events = calls.flatMap(({ name, args, isError = false, isOpen = false }) => {
    const id = `call-${sequence}`;
    const text = typeof args === 'string' ? args : JSON.stringify(args);
    const start = event(sequence++, 'tool_call_started', { id, name, arguments: text });
    const end = event(sequence++, 'tool_call_completed', { id, name, output: 'x', is_error: isError });
    return isOpen ? [start] : [start, end];
  });
  return [...turnStart(from, prompt), ...events, ...more, event(from + 90, 'turn_succeeded')];
}

const patchesOf = (...args: Parameters<typeof heard>) => selectChangedTurns(heard(...args), 'c').map(turnPatch);

describe('what a turn changed', () => {
  it('is the last diff that the runtime gave, whole and as it stands', () => {
    const long = `${DIFF}${'+line\n'.repeat(30_000)}`;
    const [patch] = patchesOf([
      ...turnStart(1, 'do it'),
      event(3, 'diff_updated', { diff: DIFF }),
      event(4, 'diff_updated', { diff: long }),
      event(5, 'turn_succeeded'),
    ]);
    expect(patch).toBe(`# Changes of the turn: do it\n\n# As the runtime reported them.\n\n${long}`);
  });

  it('is nothing where the last diff is empty: the changes were taken back', () => {
    const edit = { name: 'edit_file', args: { path: 'x', old_string: 'a', new_string: 'b' } };
    const diffs = [event(50, 'diff_updated', { diff: DIFF }), event(51, 'diff_updated', { diff: '' })];
    expect(patchesOf(turnOf([edit], 1, 'x', diffs))).toEqual([]);
  });

  it.each([
    [
      'edit_file',
      { path: 'src/a.ts', old_string: 'one\ntwo\n', new_string: 'one\n2\n' },
      '--- src/a.ts\tthe replaced part\n+++ src/a.ts\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n',
    ],
    [
      'Edit',
      { file_path: '/w/a b', old_string: 'x', new_string: 'y', replace_all: true },
      '--- /w/a b\tevery occurrence\n+++ /w/a b\n@@ -1,1 +1,1 @@\n-x\n+y\n',
    ],
    [
      'Write',
      { file_path: 'n', content: 'new' },
      '--- n\twhat stood there is not known\n+++ n\n@@ -0,0 +1,1 @@\n+new\n',
    ],
    [
      'MultiEdit',
      {
        file_path: 'n',
        edits: [
          { old_string: 'a', new_string: 'b' },
          { old_string: 'c', new_string: '' },
        ],
      },
      '--- n\tthe replaced part\n+++ n\n@@ -1,1 +1,1 @@\n-a\n+b\n\n--- n\tthe replaced part\n+++ n\n@@ -1,1 +0,0 @@\n-c\n',
    ],
    [
      'apply_patch',
      { patch: '*** Begin Patch\n*** Add File: n\n+x\n*** End Patch' },
      '*** Begin Patch\n*** Add File: n\n+x\n*** End Patch\n',
    ],
    ['apply_patch', '*** Begin Patch\n', '*** Begin Patch\n'],
    ['write_file', { path: 'n' }, '{"path":"n"}\n'],
  ])('without a diff is what its tools were asked to do: %s %j', (name, args, expected) => {
    const [patch] = patchesOf(turnOf([{ name, args }]));
    expect(patch).toContain('# The runtime gave no diff');
    expect(patch?.slice(patch.indexOf('\n', patch.indexOf(`# ${name}`)) + 1)).toBe(expected);
  });

  it('leaves out what failed or only reads, and says of what never ended that it is not known', () => {
    const args = (path: string) => ({ path, old_string: 'a', new_string: 'b' });
    const [patch = ''] = patchesOf(
      turnOf([
        { name: 'edit_file', args: args('failed'), isError: true },
        { name: 'read_file', args: { path: 'read' } },
        { name: 'edit_file', args: args('done') },
        { name: 'edit_file', args: args('open'), isOpen: true },
      ]),
    );
    expect(patch).not.toMatch(/failed|read_file/);
    expect(patch).toContain('# edit_file done\n');
    expect(patch).toContain('# edit_file open (whether it was done is not known)\n');
  });

  it('spells out what can not be seen', () => {
    const args = { path: 'a\nb', old_string: 'x', new_string: 'y\u202ez' };
    const [patch] = patchesOf(turnOf([{ name: 'edit_file', args }]));
    expect(patch).toContain('+y⟨U+202E⟩z');
    expect(patch).toContain('+++ a b\n');
  });

  it('has a bound, and says what is beyond it', () => {
    const patch = turnPatch({ turnId: null, prompt: null, diff: `+${'x'.repeat(PATCH_LIMIT)}`, edits: [] });
    expect(patch.length).toBeLessThan(PATCH_LIMIT + 100);
    expect(patch).toMatch(/# … \d+ more characters are not shown\.\n$/);
  });

  it('of two long texts that have nothing in common is not compared line by line', () => {
    const lines = (word: string) => Array.from({ length: 50_000 }, (_, at) => `${word} ${at}\n`).join('');
    const [patch] = patchesOf(
      turnOf([{ name: 'Edit', args: { path: 'x', old_string: lines('a'), new_string: lines('b') } }]),
    );
    expect(patch).toContain('-a 49999\n+b 0\n');
  });
});

describe('the turns that changed something', () => {
  const edit = (path: string): Call => ({ name: 'edit_file', args: { path, old_string: 'a', new_string: 'b' } });

  it('are told apart, the saved ones too, and those that changed nothing are not among them', () => {
    const history = [
      user('saved'),
      assistant(
        '',
        call('1', '{"path":"saved","content":"x"}', 'write_file'),
        call('2', '{"path":"no"}', 'write_file'),
      ),
      result('1', 'Wrote it'),
      result('2', 'Error: no'),
      user('only asked'),
      assistant('Yes.'),
    ];
    const idle = [...turnStart(101, 'idle'), delta(103, 'x'), event(104, 'turn_succeeded')];
    const state = heard([...turnOf([edit('seen')]), ...idle], { history });
    const turns = selectChangedTurns(state, 'c');
    expect(turns.map(({ prompt, turnId, edits }) => [prompt, turnId, edits.length])).toEqual([
      ['saved', null, 1],
      ['do it', 'seen-2', 1],
    ]);
  });

  it('are found by name', () => {
    const state = heard([...turnOf([edit('one')]), ...turnOf([edit('two')], 101, 'again'), ...turnOf([], 201, 'idle')]);
    expect(
      ['seen-2', 'seen-102', 'seen-202', 'never'].map((turn) => selectChangesOf(state, 'c', turn)?.prompt),
    ).toEqual(['do it', 'again', undefined, undefined]);
  });
});
