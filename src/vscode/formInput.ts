import * as vscode from 'vscode';
import type { Field } from '../selectors/elicitation.js';
import { contentOf } from '../selectors/elicitationContent.js';
import type { Given, Page } from './formPage.js';
import { shownText } from './shownText.js';

/** What a page has in common, whether one picks or types. `hasBack` also where typing followed picking. */
export function dress(
  box: vscode.QuickPick<vscode.QuickPickItem> | vscode.InputBox,
  page: Page,
  hasBack: boolean,
): void {
  box.title = page.title;
  box.step = page.step;
  box.totalSteps = page.totalSteps;
  box.ignoreFocusOut = true;
  box.buttons = hasBack ? [vscode.QuickInputButtons.Back] : [];
  box.prompt = shownText(page.field.description ?? page.field.title);
}

/** Shows it until `accept` has an answer. Whoever leaves it, or shows something else in its place, has left the form. */
export function shown<T>(
  box: vscode.QuickPick<vscode.QuickPickItem> | vscode.InputBox,
  token: vscode.CancellationToken | undefined,
  accept: () => T | undefined,
): Promise<T | 'back' | 'left'> {
  return new Promise((resolve) => {
    const done = (answer: T | 'back' | 'left') => {
      resolve(answer);
      withdrawn?.dispose();
      box.dispose();
    };
    const withdrawn = token?.onCancellationRequested(() => {
      done('left');
    });
    box.onDidAccept(() => {
      const answer = accept();
      if (answer !== undefined) done(answer);
    });
    box.onDidTriggerButton((button) => {
      if (button === vscode.QuickInputButtons.Back) done('back');
    });
    box.onDidHide(() => {
      done('left');
    });
    box.show();
  });
}

/** What is wrong with an answer, as a sentence; nothing where it fits. */
export function problemWith(field: Field, given: Given): string | undefined {
  const checked = contentOf([field], given === undefined ? {} : Object.fromEntries([[field.name, given]]));
  return 'problem' in checked ? shownText(checked.problem) : undefined;
}
