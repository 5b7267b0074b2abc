import * as vscode from 'vscode';

export const SECTION = 'supercode.frontend';
/** Where the environment's last handover is remembered: addresses and the credential's path, never the credential. */
export const REMEMBERED = 'supercode.frontend.environment';

/** Where runtimes are remembered that something outside handed over. */
export const EXTERNAL = 'supercode.frontend.externalRuntimes';

/** Of the documents that show what a turn changed. */
export const CHANGES_SCHEME = 'supercode-changes';

export interface Settings {
  readonly baseUrl: string;
  readonly clientId: string;
  readonly permissions: readonly string[];
}

export function settings(): Settings {
  const values = vscode.workspace.getConfiguration(SECTION);
  return {
    baseUrl: values.get('baseUrl', '').trim(),
    clientId: values.get('clientId', '').trim(),
    permissions: values.get<readonly string[]>('permissions', ['observe', 'interact', 'approve']),
  };
}

/** Whether anything says where a runtime is: cheap enough for the start of every window. */
export function hasHandover(context: vscode.ExtensionContext): boolean {
  return (
    Object.keys(process.env).some((name) => name.startsWith('SUPERCODE_FRONTEND_')) ||
    context.globalState.get(REMEMBERED) !== undefined ||
    context.workspaceState.get(EXTERNAL) !== undefined ||
    settings().baseUrl !== ''
  );
}
