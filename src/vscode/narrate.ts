import * as vscode from 'vscode';

const NARRATED_MS = 5_000;

/** An action whose success nobody sees is one that nobody trusts. */
export function narrate(text: string): void {
  vscode.window.setStatusBarMessage(text, NARRATED_MS);
}
