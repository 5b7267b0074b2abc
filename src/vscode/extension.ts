import * as vscode from 'vscode';
import { messageOf } from '../protocol/messageOf.js';
import type { FrontendApi } from './api.js';
import { COMMAND_NAMES } from './commandNames.js';
import { grantsOf, refusedProposals } from './grants.js';
import type { Main } from './main.js';
import { registerModel, RuntimeModel } from './model.js';
import { Participants, setParticipantKeys } from './participants.js';
import { registerSessions } from './sessions.js';
import { CHANGES_SCHEME, hasHandover, SECTION } from './settings.js';

export type { ConnectionInfo, ConnectOptions, FrontendApi } from './api.js';

/**
 * Registers what the editor must know of from the start. The store and all that acts on it are loaded with the first use,
 * or right behind this where something says where a runtime is.
 */
export function activate(context: vscode.ExtensionContext): FrontendApi {
  const grants = grantsOf(context);
  const log = vscode.window.createOutputChannel('Volter Harness', { log: true });
  const refused = refusedProposals(grants);
  if (refused !== undefined) log.info(refused);
  const model = new RuntimeModel('Volter Harness', grants);
  const connectionsChanged = new vscode.EventEmitter<void>();
  const changesShown = new vscode.EventEmitter<vscode.Uri>();
  let main: Main | undefined;
  let loading: Promise<Main> | undefined;
  const load = () => {
    loading ??= import('./main.js')
      .then(({ Main: Loaded }) => {
        main = new Loaded({ context, grants, log, model, participants, connectionsChanged, changesShown, sessions });
        return main;
      })
      .catch((error: unknown) => {
        // The next use tries again.
        loading = undefined;
        throw error;
      });
    return loading;
  };
  const loadAhead = () => {
    load().catch((error: unknown) => {
      log.error(`The extension could not be loaded: ${messageOf(error)}`);
    });
  };

  setParticipantKeys(grants);
  const handler: vscode.ChatRequestHandler = async (request, chat, stream, token) =>
    (await load()).chat({ request, context: chat, stream, token });
  const participants = new Participants({ context, grants, log, handler });
  const sessions = registerSessions({
    context,
    grants,
    log,
    participant: participants.ofSessions,
    content: async (resource) => (await load()).session(resource, handler),
    // The list follows the state by itself once there is one.
    refresh: async () => {
      if (hasHandover(context)) await load();
    },
  });
  context.subscriptions.push(
    log,
    connectionsChanged,
    changesShown,
    registerModel(model, log),
    ...COMMAND_NAMES.map((name) =>
      vscode.commands.registerCommand(`${SECTION}.${name}`, async (argument: unknown) =>
        (await load()).command(name, argument),
      ),
    ),
    // The editor opens such a document again by itself after a reload.
    vscode.workspace.registerTextDocumentContentProvider(CHANGES_SCHEME, {
      onDidChange: changesShown.event,
      provideTextDocumentContent: async (uri) => (await load()).changes(uri),
    }),
    vscode.commands.registerCommand(`${SECTION}.showOutput`, () => {
      log.show();
    }),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (main === undefined && event.affectsConfiguration(SECTION) && hasHandover(context)) loadAhead();
    }),
  );
  // Behind this: on some versions of Node an import reads and compiles before it returns.
  if (hasHandover(context)) {
    setImmediate(loadAhead);
  }

  return {
    connect: async (options) => (await load()).connect(options),
    disconnect: async (id) => (await load()).disconnect(id),
    get connections() {
      return main?.connections ?? [];
    },
    grantedProposals: [...grants],
    onDidChangeConnections: connectionsChanged.event,
  };
}

/** What was registered is disposed of by the editor. */
export function deactivate(): void {
  return;
}
