import { beforeEach, describe, expect, it } from 'vitest';
import { FakeEditor } from '../doubles/editor.js';
import { ask, askOne, input, picker } from './askedForm.js';

let editor: FakeEditor;
beforeEach(() => {
  editor = new FakeEditor();
});

describe('a choice', () => {
  const CHOICE = {
    type: 'integer',
    oneOf: [
      { const: 1, title: 'One', description: 'the first\nof all' },
      { const: 2, title: 'Two' },
    ],
  };

  it('shows what there is to choose, and what it is about', async () => {
    editor.pick('One');
    expect(await askOne({ ...CHOICE, description: 'Which one?' })).toEqual({ x: 1 });
    expect(picker(editor).items.map(({ label }) => label)).toEqual(['One', 'Two']);
    expect(picker(editor)).toMatchObject({ prompt: 'Which one?', placeholder: 'Choose one', canSelectMany: false });
    expect(picker(editor).items[0]?.detail).toBe('the first of all');
  });

  it('may be left out where it is not needed', async () => {
    editor.pick('Leave out');
    expect(await askOne({ ...CHOICE, default: 2 }, false)).toEqual({});
    expect(picker(editor).items.map(({ label }) => label)).toEqual(['One', 'Two', '', 'Leave out']);
  });

  it('begins at the default', async () => {
    editor.enter();
    expect(await askOne({ ...CHOICE, default: 2 })).toEqual({ x: 2 });
    editor.enter();
    expect(await askOne({ type: 'boolean', default: false })).toEqual({ x: false });
  });

  const SUGGESTED = { type: 'string', minLength: 3, 'x-options': ['sqlite', 'postgres'] };

  it('may be something else, where that is allowed', async () => {
    editor.pick('Something else…');
    editor.type('db');
    editor.type('duckdb');
    expect(await askOne(SUGGESTED)).toEqual({ x: 'duckdb' });
    expect(picker(editor).items.map(({ label }) => label)).toEqual(['sqlite', 'postgres', '', 'Something else…']);
    expect(input(editor, 1).problems).toContain('x: write at least 3 characters; you wrote 2.');
  });

  it('takes what was typed into the list for something else', async () => {
    editor.type('maria');
    editor.pick('Something else…');
    editor.enter();
    expect(await askOne(SUGGESTED)).toEqual({ x: 'maria' });
    editor.type('some');
    editor.pick('Something else…');
    editor.escape();
    expect(await askOne(SUGGESTED)).toBeUndefined();
    expect(input(editor, 3).value).toBe('');
  });

  it('comes back from something else to the list', async () => {
    editor.pick('Something else…');
    editor.back();
    editor.pick('sqlite');
    expect(await askOne(SUGGESTED)).toEqual({ x: 'sqlite' });
    expect(editor.host.questions).toHaveLength(3);
  });

  it('begins at something else where the default is that', async () => {
    editor.enter();
    editor.enter();
    expect(await askOne({ ...SUGGESTED, default: 'oracle' })).toEqual({ x: 'oracle' });
  });

  it('has an option that is called like an entry of the form', async () => {
    editor.pick('Something else…');
    expect(await askOne({ enum: ['Something else…', 'Leave out'] })).toEqual({ x: 'Something else…' });
  });
});

describe('several choices', () => {
  const MULTI = { type: 'array', items: { type: 'string', enum: ['a', 'b', 'c'] } };

  it('begin with the defaults, and may be none', async () => {
    editor.enter();
    expect(await askOne({ ...MULTI, default: ['c', 'a'] })).toEqual({ x: ['a', 'c'] });
    expect(picker(editor)).toMatchObject({ canSelectMany: true, placeholder: 'Choose one or more' });
    editor.pick();
    expect(await askOne({ ...MULTI, default: ['a'] }, false)).toEqual({});
    expect(picker(editor, 1).placeholder).toBe('Choose some, or none to leave it out');
  });

  it('are asked until they are enough', async () => {
    editor.pick();
    editor.pick('a');
    editor.pick('a', 'b');
    expect(await askOne({ ...MULTI, minItems: 2 })).toEqual({ x: ['a', 'b'] });
    expect(picker(editor).prompt).toBe('x: choose at least 2 answers; you chose 1.');
  });

  const SUGGESTED = { type: 'array', minItems: 2, items: { type: 'string' }, 'x-options': ['linux', 'windows'] };

  it('may have more than the list has', async () => {
    editor.pick('linux', 'Something else…');
    editor.type('');
    editor.type('plan9, linux, bsd');
    expect(await askOne(SUGGESTED)).toEqual({ x: ['linux', 'plan9', 'bsd'] });
    expect(input(editor, 1).problems).toEqual(['x: choose at least 2 answers; you chose 1.']);
  });

  it('keep what was picked and typed when one goes back', async () => {
    editor.pick('linux', 'Something else…');
    editor.type('bsd');
    editor.back();
    editor.enter();
    editor.enter();
    editor.type('z');
    expect(await ask({ x: SUGGESTED, y: { type: 'string' } })).toEqual({ x: ['linux', 'bsd'], y: 'z' });
  });
});
