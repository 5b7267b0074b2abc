import { fc, test as property } from '@fast-check/vitest';
import { createTwoFilesPatch } from 'diff';
import { describe, expect, it } from 'vitest';
import { DIFF_FILES_LIMIT, filesOfDiff } from '../../src/selectors/diffFiles.js';

const lines = (...all: readonly string[]) => `${all.join('\n')}\n`;
const change = (name: string) => lines(`--- a/${name}`, `+++ b/${name}`, '@@ -1 +1 @@', '-old', '+new');

describe('the files of a diff', () => {
  it.each<[string, string, readonly string[]]>([
    ['nothing', '', []],
    ['prose', 'Just words.\n--- and a rule\n\n@@ and @@ signs @@\n', []],
    ['one file', change('src/a.ts'), ['src/a.ts']],
    ['several, each once, in order', change('b') + change('a') + change('b'), ['b', 'a']],
    [
      'a rename alone, with spaces: both names',
      lines(
        'diff --git a/old name.txt b/new name.txt',
        'similarity index 100%',
        'rename from old name.txt',
        'rename to new name.txt',
      ),
      ['old name.txt', 'new name.txt'],
    ],
    [
      'a copy, which leaves its source alone',
      lines('diff --git a/from b/to it', 'similarity index 100%', 'copy from from', 'copy to to it'),
      ['to it'],
    ],
    [
      'a rename with changes',
      lines(
        'diff --git a/x y b/z',
        'rename from x y',
        'rename to z',
        '--- a/x y',
        '+++ b/z',
        '@@ -1 +1 @@',
        '-a',
        '+b',
      ),
      ['x y', 'z'],
    ],
    [
      'C-quoted octal UTF-8',
      lines(
        String.raw`diff --git "a/caf\303\251 \"x\".txt" "b/caf\303\251 \"x\".txt"`,
        String.raw`--- "a/caf\303\251 \"x\".txt"`,
        String.raw`+++ "b/caf\303\251 \"x\".txt"`,
        '@@ -1 +1 @@',
        '-a',
        '+b',
      ),
      ['café "x".txt'],
    ],
    [
      'a C-quoted name in a rename alone',
      lines(
        String.raw`diff --git "a/\346\274\242" b/plain`,
        'similarity index 100%',
        String.raw`rename from "\346\274\242"`,
        'rename to plain',
      ),
      ['漢', 'plain'],
    ],
    [
      'a C-quoted name where only the mode changed',
      lines(String.raw`diff --git "a/\346\274\242" "b/\346\274\242"`, 'old mode 100644', 'new mode 100755'),
      ['漢'],
    ],
    ['/dev/null on both sides', lines('--- /dev/null', '+++ /dev/null', '@@ -0,0 +1 @@', '+a'), []],
    ['/dev/null on both sides of a named file', lines('diff --git a/x b/x', '--- /dev/null', '+++ /dev/null'), ['x']],
    [
      'a new and a deleted file',
      lines('--- /dev/null', '+++ b/new', '@@ -0,0 +1 @@', '+a', '--- a/gone', '+++ /dev/null', '@@ -1 +0,0 @@', '-a'),
      ['new', 'gone'],
    ],
    ['no header at all', lines('@@ -1 +1 @@', '-a', '+b'), []],
    ['no prefix', lines('--- src/a.ts', '+++ src/a.ts', '@@ -1 +1 @@', '-a', '+b'), ['src/a.ts']],
    [
      'no prefix, of a folder called b',
      lines('diff --git b/x b/x', '--- b/x', '+++ b/x', '@@ -1 +1 @@', '-a', '+b'),
      ['b/x'],
    ],
    [
      'no prefix, the mode alone',
      lines('diff --git my file my file', 'old mode 100644', 'new mode 100755'),
      ['my file'],
    ],
    ['the prefixes of the index and the work tree', lines('diff --git i/x w/x', '--- i/x', '+++ w/x'), ['x']],
    [
      'timestamps',
      lines('--- a/x y\t2026-01-01 10:00:00', '+++ b/x y\t2026-01-02 10:00:00', '@@ -1 +1 @@', '-a', '+b'),
      ['x y'],
    ],
    ['CRLF', change('x').replaceAll('\n', '\r\n') + change('y').replaceAll('\n', '\r\n'), ['x', 'y']],
    ['CRLF where only the mode changed', 'diff --git a/x b/x\r\nold mode 100644\r\nnew mode 100755\r\n', ['x']],
    [
      'the mode alone, of a name that looks like two',
      lines('diff --git a/a b/c b/a b/c', 'old mode 100644', 'new mode 100755'),
      ['a b/c'],
    ],
    [
      'a binary file of git',
      lines('diff --git a/i.png b/i.png', 'index 1..2 100644', 'Binary files a/i.png and b/i.png differ'),
      ['i.png'],
    ],
    [
      'a renamed binary file',
      lines('diff --git a/i j b/k', 'rename from i j', 'rename to k', 'Binary files a/i j and b/k differ'),
      ['i j', 'k'],
    ],
    ['a dash above a section', lines('--- note', 'diff --git a/x b/x', 'old mode 1', 'new mode 2'), ['x']],
    [
      'content that looks like a header behind a marker',
      lines('--- a/x', '+++ b/x', '@@ -1 +1,2 @@', '+k', '\\ No newline at end of file', '--- y', '+++ z'),
      ['x'],
    ],
    ['a binary patch', lines('diff --git a/i b/i', 'GIT binary patch', 'literal 3', 'Kc-----', '', ''), ['i']],
    ['a binary file of plain diff', lines('Binary files a/i.png and b/i.png differ'), ['i.png']],
    ['a new binary file of plain diff', lines('Binary files /dev/null and b/i.png differ'), ['i.png']],
    [
      'content that looks like a header',
      lines('--- a/x', '+++ b/x', '@@ -1,2 +1,2 @@', '--- y', '-k', '+++ z', '+l', '@@ -9 +9 @@', '-a', '+b'),
      ['x'],
    ],
    [
      'content that looks like a header, to the end of its hunk',
      lines('--- a/x', '+++ b/x', '@@ -1,2 +1,2 @@', '-k', '+l', '--- y', '+++ z', '@@ -9 +9 @@', '-a', '+b'),
      ['x'],
    ],
    [
      'no newline at the end',
      lines('--- a/x', '+++ b/x', '@@ -1 +1 @@', '-a', '\\ No newline at end of file', '+b', '\\ No newline') +
        change('y'),
      ['x', 'y'],
    ],
    ['a hunk that is cut off', lines('--- a/x', '+++ b/x', '@@ -1,9 +1,9 @@', ' a', '-b'), ['x']],
    ['a header that is cut off', change('x') + lines('diff --git a/y b/y', '--- a/y'), ['x', 'y']],
    ['a count too high', lines('--- a/x', '+++ b/x', '@@ -1,9 +1,9 @@', '-a', '+b') + change('y'), ['x', 'y']],
    [
      'a count too high before a section',
      lines('--- a/x', '+++ b/x', '@@ -1,9 +1,9 @@', '-a', 'diff --git a/y b/y', 'old mode 1', 'new mode 2'),
      ['x', 'y'],
    ],
    ['a count too low', lines('--- a/x', '+++ b/x', '@@ -1 +1 @@', '-a', '+b', '-c', '+d') + change('y'), ['x', 'y']],
    [
      'a combined diff',
      lines(
        'diff --cc f g',
        'index 1,2..3',
        '--- a/f g',
        '+++ b/f g',
        '@@@ -1,2 -1,2 +1,3 @@@',
        '  a',
        '- b',
        ' -c',
        '++d',
        '++e',
      ),
      ['f g'],
    ],
    [
      'a combined diff with content that looks like a header',
      lines(
        'diff --cc f',
        '--- a/f',
        '+++ b/f',
        '@@@ -1,2 -1,2 +1,2 @@@',
        '  a',
        '--- x',
        '+++ y',
        'diff --cc g',
        'index 1,2..3',
      ),
      ['f', 'g'],
    ],
    [
      'a mailed patch with its signature',
      lines('From 1234', 'Subject: x', '---', ' x | 2 +-', '') + change('x') + lines('-- ', '2.40.1'),
      ['x'],
    ],
    [
      'Subversion',
      lines(
        'Index: p q',
        '=====',
        '--- p q\t(revision 1)',
        '+++ p q\t(working copy)',
        '@@ -1 +1 @@',
        '-a',
        '+b',
        'Index: r',
        '=====',
      ),
      ['p q', 'r'],
    ],
  ])('[fault 57] [defect P37] of %s', (_, patch, files) => {
    expect(filesOfDiff(patch)).toEqual(files);
  });

  it('[fault 57] of a patch envelope', () => {
    const patch = lines(
      "apply_patch <<'EOF'",
      '*** Begin Patch',
      '*** Update File: a b.txt',
      '*** Move to: c.txt',
      '@@ class X',
      '-old',
      '+*** Add File: content',
      '*** Add File: d',
      '+--- a/x',
      '*** Delete File: e',
      '*** End Patch',
      'EOF',
    );
    expect(filesOfDiff(patch)).toEqual(['a b.txt', 'c.txt', 'd', 'e']);
    expect(filesOfDiff(patch.replaceAll('\n', '\r\n'))).toEqual(['a b.txt', 'c.txt', 'd', 'e']);
  });

  it('[fault 55] has names without control characters', () => {
    expect(filesOfDiff(change('\x1b[31mx\u202e'))).toEqual(['⟨U+001B⟩[31mx⟨U+202E⟩']);
    expect(filesOfDiff(lines(String.raw`--- "a/x\ny"`, String.raw`+++ "b/x\ny"`))).toEqual(['x y']);
  });

  it('keeps to a number of files and to a length of names', () => {
    const many = Array.from({ length: 3000 }, (_, i) => change(`f${i}`)).join('');
    expect(filesOfDiff(many)).toHaveLength(DIFF_FILES_LIMIT);
    expect(filesOfDiff(change('x'.repeat(100_000)))[0]?.length).toBeLessThanOrEqual(4096);
  });

  it.each<[string, string]>([
    [
      'ordinary lines',
      `${lines('--- a/x', '+++ b/x', '@@ -1,2000000 +1,2000000 @@')}${' some line\n'.repeat(900_000)}`,
    ],
    ['line ends', '\n'.repeat(10_000_000)],
    ['one line', 'x'.repeat(10_000_000)],
    ['headers', '--- a/x\n+++ b/x\n'.repeat(600_000)],
    ['a header without end', `diff --git a/${' b/'.repeat(3_000_000)}`],
    ['remarks on binary files', `Binary files ${' and '.repeat(1000)} differ\n`.repeat(2000)],
  ])(
    'reads 10 MB of %s in a few seconds',
    (_, patch) => {
      expect(filesOfDiff(patch).length).toBeLessThan(3);
    },
    10_000,
  );

  const content = fc.array(
    fc.constantFrom('-- x', '++ y', '@@ -1 +1 @@', 'diff --git a/n b/n', '', 'text', '--- a', '\\ x'),
    {
      maxLength: 12,
    },
  );

  property.prop([content, content, content, content])(
    '[fault 57] names exactly the files of any true diff, whatever their lines look like',
    (a, b, c, d) => {
      const first = createTwoFilesPatch('a/one', 'b/one', lines(...a), lines(...b));
      const second = createTwoFilesPatch('a/two', 'b/two', lines(...c), lines(...d));
      expect(filesOfDiff(first + second)).toEqual(['one', 'two']);
    },
  );

  property.prop([fc.string({ unit: 'grapheme', maxLength: 500 }), content])('never throws', (junk, more) => {
    expect(() => filesOfDiff(junk + lines(...more) + junk)).not.toThrow();
  });
});
