import * as vscode from 'vscode';
import type { FieldOption } from '../selectors/elicitation.js';
import type { Page, Turned } from './formPage.js';
import { dress, problemWith, shown } from './formInput.js';
import { askTyped } from './formText.js';
import { shownText } from './shownText.js';

interface Item extends vscode.QuickPickItem {
  readonly means: { readonly option: string } | 'other' | 'leave out' | 'nothing';
}

const SOMETHING_ELSE = 'Something else…';

interface Picked {
  readonly labels: readonly string[];
  readonly isOther: boolean;
  /** What was typed to narrow the list down. */
  readonly filter: string;
}

/** Lets a person pick one option, or some; and type what is none of them, where that may be. */
export async function askPick(page: Page): Promise<Turned> {
  const { field } = page;
  let preset = page.preset;
  for (;;) {
    const picked = await pick({ ...page, preset });
    if (typeof picked === 'string') return picked;
    if (!picked.isOther) return { given: field.multi ? picked.labels : (picked.labels[0] ?? '') };
    const isSought = SOMETHING_ELSE.toLowerCase().startsWith(picked.filter.toLowerCase());
    const prefill = isSought ? preset.rest.join(', ') : picked.filter;
    const typed = await askTyped(page, { prefill, hasBack: true, picked: picked.labels });
    if (typed === 'left') return typed;
    if (typed !== 'back') return { given: typed.given };
    preset = { ...preset, labels: picked.labels, rest: prefill === '' ? [] : [prefill] };
  }
}

function pick(page: Page): Promise<Picked | 'back' | 'left'> {
  const { field, preset } = page;
  const items = itemsOf(page);
  const chosen = items.filter(({ means }) =>
    typeof means === 'string' ? means === 'other' && preset.rest.length > 0 : preset.labels.includes(means.option),
  );
  const leaveOut = items.filter(({ means }) => preset.isLeftOut && means === 'leave out');
  const box = vscode.window.createQuickPick<Item>();
  dress(box, page, page.hasBack);
  box.placeholder = placeholderFor(page);
  box.canSelectMany = field.multi;
  box.matchOnDetail = true;
  box.items = items;
  box.activeItems = [...chosen, ...leaveOut].slice(0, 1);
  if (field.multi) box.selectedItems = chosen;
  return shown(box, page.token, () => {
    const taken = box.selectedItems.length > 0 || field.multi ? box.selectedItems : box.activeItems.slice(0, 1);
    const labels = taken.flatMap(({ means }) => (typeof means === 'string' ? [] : [means.option]));
    const isOther = taken.some(({ means }) => means === 'other');
    if (!field.multi && taken.length === 0) return undefined;
    const problem = isOther ? undefined : problemWith(field, labels);
    if (problem === undefined) return { labels, isOther, filter: field.multi ? '' : box.value.trim() };
    box.prompt = problem;
    return undefined;
  });
}

function itemsOf({ field }: Page): readonly Item[] {
  const more: Item[] = [
    ...(field.freeText ? [{ label: SOMETHING_ELSE, alwaysShow: true, means: 'other' } as const] : []),
    ...(field.required || field.multi ? [] : [{ label: 'Leave out', alwaysShow: true, means: 'leave out' } as const]),
  ];
  const separator: Item = { label: '', kind: vscode.QuickPickItemKind.Separator, means: 'nothing' };
  return [...field.options.map(itemOf), ...(more.length > 0 ? [separator] : []), ...more];
}

function itemOf({ label, description }: FieldOption): Item {
  return {
    label: shownText(label),
    ...(description === undefined ? {} : { detail: shownText(description) }),
    means: { option: label },
  };
}

function placeholderFor({ field }: Page): string {
  if (!field.multi) return 'Choose one';
  return field.required ? 'Choose one or more' : 'Choose some, or none to leave it out';
}
