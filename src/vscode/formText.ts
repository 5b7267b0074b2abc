import * as vscode from 'vscode';
import type { Field } from '../selectors/elicitation.js';
import type { Given, Page, Turned } from './formPage.js';
import { dress, problemWith, shown } from './formInput.js';

/** Asks for a text, a number, or several of them with commas between. */
export async function askText(page: Page): Promise<Turned> {
  const prefill = page.preset.rest.join(', ');
  const typed = await askTyped(page, { prefill, hasBack: page.hasBack, picked: [] });
  if (typeof typed === 'string') return typed;
  // A box can't show every default, such as a text of several lines: untouched, it is taken as it is.
  return { given: page.preset.isDefault && typed.text === prefill ? undefined : typed.given };
}

export interface Typing {
  readonly prefill: string;
  readonly hasBack: boolean;
  /** The options that were picked together with what is typed here. */
  readonly picked: readonly string[];
}

/** One input box; it takes nothing that does not fit. */
export async function askTyped(page: Page, { prefill, hasBack, picked }: Typing) {
  const { field } = page;
  const box = vscode.window.createInputBox();
  dress(box, page, hasBack);
  box.placeholder = placeholderFor(field);
  box.value = prefill;
  box.onDidChangeValue((text) => {
    box.validationMessage = text.trim() === '' ? undefined : problemWith(field, givenIn(field, text, picked));
  });
  return shown(box, page.token, () => {
    const given = givenIn(field, box.value, picked);
    box.validationMessage = problemWith(field, given);
    return box.validationMessage === undefined ? { text: box.value, given } : undefined;
  });
}

function givenIn({ multi }: Field, text: string, picked: readonly string[]): NonNullable<Given> {
  if (!multi) return text.trim();
  const typed = text.split(',').map((each) => each.trim());
  return [...picked, ...typed.filter((each) => each !== '')];
}

const KINDS: Readonly<Record<Field['type'], string>> = {
  string: 'Text',
  number: 'A number',
  integer: 'A whole number',
  boolean: 'Yes or no',
  array: 'One or more, with commas between',
};

function placeholderFor({ type, required }: Field): string {
  return required ? KINDS[type] : `${KINDS[type]}; nothing to leave it out`;
}
