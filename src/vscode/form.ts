import type * as vscode from 'vscode';
import type { JsonObject } from '../protocol/requests.js';
import { revealedTitle } from '../selectors/bounds.js';
import type { Field } from '../selectors/elicitation.js';
import { contentOf } from '../selectors/elicitationContent.js';
import { presetOf, type Given, type Page } from './formPage.js';
import { askPick } from './formPick.js';
import { askText } from './formText.js';

const TITLE_LIMIT = 96;

/**
 * Asks the fields of an elicitation one after the other, and gives the content that fits its schema. Undefined where the
 * person left it at any point, or where `token` says that it is not wanted any more.
 */
export async function askForm(
  fields: readonly Field[],
  title: string,
  token?: vscode.CancellationToken,
): Promise<JsonObject | undefined> {
  const answers = new Map<string, Given>();
  let at = 0;
  for (let field = fields[at]; field !== undefined; field = fields[at]) {
    const page: Page = {
      field,
      title: titleOf(field, title),
      ...(fields.length > 1 ? { step: at + 1, totalSteps: fields.length } : {}),
      hasBack: at > 0,
      preset: presetOf(field, answers.get(field.name)),
      token,
    };
    const turned = await (field.options.length > 0 ? askPick(page) : askText(page));
    if (turned === 'left') return undefined;
    if (turned !== 'back') answers.set(field.name, turned.given);
    at += turned === 'back' ? -1 : 1;
  }
  const given = [...answers].flatMap(([name, answer]) => (answer === undefined ? [] : [[name, answer] as const]));
  const filled = contentOf(fields, Object.fromEntries(given));
  return 'content' in filled ? filled.content : undefined;
}

/** What is asked stands in front: of a long title the end is not to be seen. */
function titleOf(field: Field, title: string): string {
  const about = revealedTitle(title, TITLE_LIMIT);
  return about === '' ? field.title : `${field.title} – ${about}`;
}
