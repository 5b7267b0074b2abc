import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { HISTORY_MARKER } from '../../src/selectors/historyTurns.js';

const SRC = fileURLToPath(new URL('../../src/', import.meta.url));
const ROOMS = ['vscode', 'selectors', 'sagas', 'store', 'protocol', 'services'];
/** What a person must type, and what the marker of a restored history is called by contract. */
const NAMED = ['@supercode', HISTORY_MARKER];

/** The texts of a file that read like a sentence: machine names have no blanks. */
function sentencesIn(file: string): readonly string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) {
      if (/\s/.test(node.text)) found.push(node.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest));
  return found;
}

it('[defect E71] nothing that the editor says names what is inside', () => {
  const files = ROOMS.flatMap((room) =>
    readdirSync(join(SRC, room), { recursive: true, encoding: 'utf8' }).map((name) => join(SRC, room, name)),
  ).filter((file) => file.endsWith('.ts'));
  const sentences = files.flatMap(sentencesIn);
  expect(sentences.length).toBeGreaterThan(150);
  const named = sentences.map((text) => NAMED.reduce((rest, name) => rest.replaceAll(name, ''), text));
  expect(named.filter((text) => /supercode|local agents/i.test(text))).toEqual([]);
});
