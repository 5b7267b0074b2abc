import * as vscode from 'vscode';
import { beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/protocol/requests.js';
import { askForm } from '../../src/vscode/form.js';
import { FakeEditor } from '../doubles/editor.js';
import { ask, askOne, formFields, input, picker, question } from './askedForm.js';

let editor: FakeEditor;
beforeEach(() => {
  editor = new FakeEditor();
});

describe('a form', () => {
  it('asks nothing where there is nothing to ask', async () => {
    expect(await askForm([], 'Deploy?')).toEqual({});
    expect(editor.host.questions).toEqual([]);
  });

  it('asks one field after the other, and gives what fits the schema', async () => {
    editor.pick('Production');
    editor.pick('No');
    editor.type(' 3 ');
    editor.type('Ship it · é😀');
    editor.pick('linux', 'macos');
    const content = await ask({
      target: { type: 'string', oneOf: [{ const: 'prod', title: 'Production' }, { const: 'test' }] },
      dryRun: { type: 'boolean' },
      replicas: { type: 'integer', minimum: 1 },
      note: { type: 'string', title: 'Note' },
      platforms: { type: 'array', items: { type: 'string', enum: ['linux', 'windows', 'macos'] } },
    });
    expect(content).toEqual({
      target: 'prod',
      dryRun: false,
      replicas: 3,
      note: 'Ship it · é😀',
      platforms: ['linux', 'macos'],
    });
    expect(editor.host.questions.map(({ title, step, totalSteps }) => [title, step, totalSteps])).toEqual([
      ['target – Deploy?', 1, 5],
      ['dryRun – Deploy?', 2, 5],
      ['replicas – Deploy?', 3, 5],
      ['Note – Deploy?', 4, 5],
      ['platforms – Deploy?', 5, 5],
    ]);
    expect(editor.host.questions.every(({ ignoreFocusOut, isDisposed }) => ignoreFocusOut && isDisposed)).toBe(true);
  });

  it('has no number where there is but one question', async () => {
    editor.type('x');
    await askOne({ type: 'string' });
    expect([question(editor).step, question(editor).totalSteps]).toEqual([undefined, undefined]);
  });

  it.each([0, 1, 2])('is left by Escape at question %i, and nothing comes of it', async (escaped) => {
    for (let at = 0; at < escaped; at++) editor.enter();
    editor.escape();
    const content = await ask({
      a: { type: 'string', default: 'a' },
      b: { type: 'boolean', default: true },
      c: { type: 'array', items: { enum: ['x', 'y'] }, default: ['x'] },
    });
    expect(content).toBeUndefined();
    expect(editor.host.questions).toHaveLength(escaped + 1);
  });

  it('is left where something else takes its place, or where it is not wanted any more', async () => {
    const asked = askOne({ type: 'string' });
    await editor.settled();
    vscode.window.createQuickPick().show();
    expect(await asked).toBeUndefined();

    const source = new vscode.CancellationTokenSource();
    const withdrawn = askForm(formFields({ x: { type: 'boolean' } }), 'Deploy?', source.token);
    await editor.settled();
    expect(picker(editor, 2).isVisible).toBe(true);
    source.cancel();
    expect(await withdrawn).toBeUndefined();
    expect(picker(editor, 2).isVisible).toBe(false);
  });

  it('takes names that mean something to JavaScript', async () => {
    editor.type('1');
    editor.pick('Yes');
    const properties = JSON.parse('{"__proto__":{"type":"number"},"constructor":{"type":"boolean"}}') as JsonObject;
    expect(JSON.stringify(await ask(properties))).toBe('{"__proto__":1,"constructor":true}');
  });

  it('runs no command and draws no icon of what comes from outside', async () => {
    editor.type('nine');
    editor.escape();
    await askOne({ type: 'integer', title: '[run](command:x)', description: 'See [here](command:evil) $(trash)\nnow' });
    expect(question(editor).prompt).toBe('See [here] (command:evil) \\$(trash) now');
    expect(input(editor).problems).toEqual(['[run] (command:x): write a whole number, such as 42.']);
    editor.escape();
    await askOne({ oneOf: [{ const: 1, title: '$(trash) [a](command:b)', description: '$(x)' }] });
    expect(picker(editor, 1).items[0]).toMatchObject({ label: '\\$(trash) [a] (command:b)', detail: '\\$(x)' });
  });
});

describe('going back', () => {
  it('asks the question before again, with what was answered, and keeps the rest', async () => {
    editor.type('second thoughts');
    editor.pick('b');
    editor.back();
    editor.back();
    editor.type('third thoughts');
    editor.enter();
    editor.type('9');
    expect(await ask({ a: { type: 'string' }, b: { enum: ['a', 'b', 'c'] }, c: { type: 'number' } })).toEqual({
      a: 'third thoughts',
      b: 'b',
      c: 9,
    });
    expect(editor.host.questions.map(({ step }) => step)).toEqual([1, 2, 3, 2, 1, 2, 3]);
    expect(picker(editor, 3).activeItems.map(({ label }) => label)).toEqual(['b']);
    expect(question(editor).buttons).toEqual([]);
    expect(question(editor, 1).buttons).toEqual([vscode.QuickInputButtons.Back]);
  });

  it('does not bring a default back that was answered otherwise, or left out', async () => {
    editor.type('mine');
    editor.back();
    editor.enter();
    editor.back();
    editor.type('');
    editor.back();
    editor.enter();
    editor.enter();
    expect(await ask({ a: { type: 'string', default: 'theirs' }, b: { type: 'boolean', default: true } }, [])).toEqual({
      b: true,
    });
    expect([0, 2, 4].map((at) => question(editor, at).title)).toEqual(Array(3).fill('a – Deploy?'));
  });
});

describe('a text or a number', () => {
  it.each([
    [
      { type: 'integer', minimum: 1, maximum: 9 },
      ['0', '1.5', 'x', '7'],
      7,
      'x: write a whole number, at least 1 and at most 9.',
    ],
    [{ type: 'number', exclusiveMinimum: 0 }, ['0', '', '2.5e-1'], 0.25, 'x: write a number, more than 0.'],
    [
      { type: 'string', minLength: 2, maxLength: 3 },
      ['a', 'abcd', '😀😀'],
      '😀😀',
      'x: write at least 2 and at most 3 characters; you wrote 1.',
    ],
  ] as const)('%j is asked until it fits', async (property, typed, value, problem) => {
    for (const text of typed) editor.type(text);
    expect(await askOne(property)).toEqual({ x: value });
    expect(editor.host.questions).toHaveLength(1);
    expect(input(editor).problems).toContain(problem);
    expect(input(editor).validationMessage).toBeUndefined();
  });

  it('is objected to while it is typed, though not before anything is', async () => {
    const asked = askOne({ type: 'integer', minimum: 5 });
    await editor.settled();
    expect(input(editor).validationMessage).toBeUndefined();
    editor.type('4');
    await editor.settled();
    expect(input(editor).validationMessage).toBe('x: write a whole number, at least 5.');
    editor.type('5');
    expect(await asked).toEqual({ x: 5 });
  });

  it('is needed, or may be left out', async () => {
    editor.enter();
    editor.type('x');
    expect(await askOne({ type: 'string' })).toEqual({ x: 'x' });
    expect(input(editor).problems).toEqual(['x: an answer is needed.']);
    editor.enter();
    expect(await askOne({ type: 'string', minLength: 5 }, false)).toEqual({});
    expect(input(editor, 1).placeholder).toBe('Text; nothing to leave it out');
    expect(input(editor).placeholder).toBe('Text');
  });

  it.each([
    [{ type: 'number', default: 1.5 }, '1.5', 1.5],
    [{ type: 'string', default: ' two\nlines ' }, ' two\nlines ', ' two\nlines '],
    [{ type: 'array', items: { type: 'string' }, default: ['a, b', 'c'] }, 'a, b, c', ['a, b', 'c']],
    [{ type: 'array', items: { type: 'integer' }, default: [1, 2] }, '1, 2', [1, 2]],
  ])('%j stands there at first, and untouched it is taken as it is', async (property, shown, value) => {
    editor.enter();
    expect(await askOne(property)).toEqual({ x: value });
    expect(input(editor).value).toBe(shown);
  });

  it('may leave the default out, where it is not needed', async () => {
    editor.type('');
    expect(await askOne({ type: 'string', default: 'theirs' }, false)).toEqual({});
  });

  it('may be several, with commas between', async () => {
    editor.type('1, x');
    editor.type('1,2 , 2,');
    expect(await askOne({ type: 'array', items: { type: 'integer' }, minItems: 2 })).toEqual({ x: [1, 2] });
    expect(input(editor).placeholder).toContain('with commas between');
    expect(input(editor).problems).toEqual(expect.arrayContaining(['x: write a whole number, such as 42.']));
  });
});
