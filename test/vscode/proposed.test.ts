import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';

const PUBLISHED = join(import.meta.dirname, '../fixtures/vscode-dts');

function complaints(files: readonly string[]): readonly string[] {
  const program = ts.createProgram(
    files.map((file) => join(PUBLISHED, file)),
    {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      module: ts.ModuleKind.NodeNext,
      target: ts.ScriptTarget.ES2023,
      types: ['node', 'vscode'],
    },
  );
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText, file }) => `${file?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`);
}

const declarations = readdirSync(PUBLISHED).filter((name) => name.endsWith('.d.ts'));

it('what is used of proposed API is what its publisher declares', { timeout: 60_000 }, () => {
  expect(complaints([...declarations, 'check.ts'])).toEqual([]);
});

it('a proposal that is gone would be seen', { timeout: 60_000 }, () => {
  const rest = declarations.filter((name) => !name.includes('chatParticipantAdditions'));
  expect(complaints([...rest, 'check.ts']).join('\n')).toContain('thinkingProgress');
});
