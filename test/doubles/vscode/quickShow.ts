import type * as vscode from 'vscode';
import { InputBoxValidationSeverity } from './enums.js';
import { InputBoxDouble, QuickPickDouble, type QuickInputDouble } from './quickInput.js';

type Items = readonly (string | vscode.QuickPickItem)[];

export async function showQuickPick(
  items: Items | Thenable<Items>,
  options: vscode.QuickPickOptions = {},
  token?: vscode.CancellationToken,
): Promise<never> {
  const given = await items;
  const shown = given.map((item) => (typeof item === 'string' ? { label: item } : item));
  const box = new QuickPickDouble();
  Object.assign(box, {
    title: options.title,
    placeholder: options.placeHolder,
    prompt: options.prompt,
    ignoreFocusOut: options.ignoreFocusOut ?? false,
    canSelectMany: options.canPickMany ?? false,
    matchOnDescription: options.matchOnDescription ?? false,
    matchOnDetail: options.matchOnDetail ?? false,
    items: shown,
  });
  if (box.canSelectMany) box.selectedItems = shown.filter(({ picked }) => picked === true);
  const isAccepted = await isAnswered(box, token);
  const picked = box.selectedItems.map((item) => given[shown.indexOf(item)]);
  return (isAccepted ? (box.canSelectMany ? picked : picked[0]) : undefined) as never;
}

export async function showInputBox(
  options: vscode.InputBoxOptions = {},
  token?: vscode.CancellationToken,
): Promise<string | undefined> {
  const box = new InputBoxDouble();
  Object.assign(box, {
    title: options.title,
    placeholder: options.placeHolder,
    prompt: options.prompt,
    value: options.value ?? '',
    valueSelection: options.valueSelection,
    password: options.password ?? false,
    ignoreFocusOut: options.ignoreFocusOut ?? false,
  });
  const fits = async () => {
    const said = (await options.validateInput?.(box.value)) ?? undefined;
    const message = said === '' ? undefined : said;
    box.validationMessage = message;
    return (
      message === undefined || (typeof message !== 'string' && message.severity !== InputBoxValidationSeverity.Error)
    );
  };
  return (await isAnswered(box, token, fits)) ? box.value : undefined;
}

/** Shows it; false where it was left. */
function isAnswered(box: QuickInputDouble, token?: vscode.CancellationToken, fits = () => Promise.resolve(true)) {
  return new Promise<boolean>((resolve) => {
    box.onDidAccept(async () => {
      if (!(await fits())) return;
      resolve(true);
      box.dispose();
    });
    box.onDidHide(() => {
      resolve(false);
      box.dispose();
    });
    token?.onCancellationRequested(() => {
      box.hide();
    });
    box.show();
  });
}
