import * as vscode from 'vscode';

/** What any extension costs: the editor's API is imported, and nothing is done with it. */
export function activate(_context: vscode.ExtensionContext): string {
  return vscode.version;
}
