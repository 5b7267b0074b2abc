import type * as vscode from 'vscode';
import type { Json, JsonObject } from '../../src/protocol/requests.js';
import { fieldsOf } from '../../src/selectors/elicitation.js';
import { askForm } from '../../src/vscode/form.js';
import type { FakeEditor } from '../doubles/editor.js';
import { InputBoxDouble, QuickPickDouble } from '../doubles/vscode/quickInput.js';

export function formFields(properties: JsonObject, required: readonly string[] = Object.keys(properties)) {
  return fieldsOf({ type: 'object', properties, required: [...required] });
}

/** Asks all of them; all are required, unless `required` names those that are. */
export const ask = (properties: JsonObject, required?: readonly string[]) =>
  askForm(formFields(properties, required), 'Deploy?');

/** One question, named x. */
export const askOne = (property: Json, required = true) => ask({ x: property }, required ? ['x'] : []);

/** The question that was asked at this place, as a person saw it. */
export function question(editor: FakeEditor, at = 0) {
  const box = editor.host.questions[at];
  if (box === undefined) throw new Error(`no question ${at} was asked`);
  return box;
}

export function picker(editor: FakeEditor, at = 0): QuickPickDouble<vscode.QuickPickItem> {
  const box = question(editor, at);
  if (box instanceof QuickPickDouble) return box as QuickPickDouble<vscode.QuickPickItem>;
  throw new Error('not a quick pick');
}

export function input(editor: FakeEditor, at = 0): InputBoxDouble {
  const box = question(editor, at);
  if (box instanceof InputBoxDouble) return box;
  throw new Error('not an input box');
}
