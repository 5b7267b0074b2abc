import * as vscode from 'vscode';
import { isClientId } from '../protocol/handover.js';
import { messageOf } from '../protocol/messageOf.js';
import { selectPhaseLabel } from '../selectors/connections.js';
import { selectFocus } from '../selectors/focus.js';
import { selectConnectionName, selectIdentityLabel } from '../selectors/identity.js';
import { selectPermissionChoice } from '../selectors/permissions.js';
import { selectChangedTurns } from '../selectors/turnChanges.js';
import { selectTurn } from '../selectors/turn.js';
import { checkedBaseUrl } from '../services/loopback.js';
import { connectionFocused } from '../store/focus.js';
import { isToken, TOKEN_KEY, type Attaching } from './attaching.js';
import type { CommandName } from './commandNames.js';
import type { Front } from './front.js';
import { checkedHandoff, targetOf } from './handoff.js';
import { activateSession, focusSession, openSession, status, stopTurn } from './hostCommands.js';
import type { Permissions } from './permissions.js';
import { narrate } from './narrate.js';
import { answerAny, answerOldest, respond } from './respond.js';
import { requestStop } from './requestStop.js';
import { reviewNamed, reviewPicked } from './reviewChanges.js';
import { saveTurn } from './saveTurn.js';
import { connectionOfRow } from './sessionResource.js';
import { settings } from './settings.js';
import { shownText } from './shownText.js';

/** What a command works on. */
export interface Works {
  readonly front: Front;
  readonly attaching: Attaching;
  readonly permissions: Permissions;
}

type Work = (works: Works, argument: unknown) => unknown;

export const COMMANDS: Readonly<Record<CommandName, Work>> = {
  connect: ({ front, attaching }, handoff) =>
    handoff === undefined ? connectInteractively(front, attaching) : connectHandoff(attaching, handoff),
  disconnect: ({ front, attaching }, target) => {
    const connection = typeof target === 'string' ? target : connectionOfRow(target);
    return connection === undefined ? disconnectPicked(front, attaching) : attaching.disconnect(connection);
  },
  setRuntimeToken: ({ front, attaching }) => setToken(front, attaching),
  respond: async ({ front }, argument) => {
    await respond(front, argument);
  },
  respondInTurnApproval: async ({ front }, argument) => ({ status: await respond(front, argument) }),
  allow: ({ front }) => ofFocus(front, (connection) => answerOldest(front, connection, ['Allow', 'Accept'])),
  deny: ({ front }) => ofFocus(front, (connection) => answerOldest(front, connection, ['Deny', 'Decline'])),
  answer: ({ front }) => answerAny(front, Object.keys(front.app.getState().connections)),
  stop: ({ front }) =>
    ofFocus(front, (connection) => {
      if (!requestStop(front, connection)) narrate('Volter Harness: nothing runs.');
    }),
  choosePermissions: ({ front, permissions }, row) =>
    ofRow(front, row, (connection) => choosePermissions(front, permissions, connection)),
  saveTurn: ({ front }, row) => ofRow(front, row, (connection) => saveTurn(front, connection)),
  reviewChanges: ({ front }, argument) =>
    argument === undefined || connectionOfRow(argument) !== undefined
      ? ofRow(front, argument, (connection) => reviewPicked(front, connection))
      : reviewNamed(front, argument),
  showStatus: (works) => showStatus(works),
  openChat: () => openChat(),
  openSession: ({ front }, connection) => openSession(front, connection),
  status: ({ front }, withDetail) => status(front, withDetail),
  stopTurn: ({ front }, connection) => {
    stopTurn(front, connection);
  },
  activateSession: ({ front }, resource) => activateSession(front, resource),
  focusSession: ({ front }, resource) => {
    focusSession(front, resource);
  },
};

/** Throws an `Error` that says what is wrong with the handoff. */
function connectHandoff(attaching: Attaching, value: unknown): Promise<string> {
  const handoff = checkedHandoff(value);
  return attaching.connectExternal(handoff, targetOf(handoff));
}

export async function openChat(): Promise<void> {
  await vscode.commands.executeCommand('workbench.action.chat.open');
}

/** Of the row of the list that the command was given, else of the conversation in focus. */
function ofRow(front: Front, row: unknown, work: (connection: string) => Promise<void> | void) {
  const connection = connectionOfRow(row);
  return connection === undefined ? ofFocus(front, work) : work(connection);
}

async function ofFocus(front: Front, work: (connection: string) => Promise<void> | void): Promise<void> {
  const focus = selectFocus(front.app.getState());
  if (focus === undefined) narrate('Volter Harness: no runtime is connected.');
  else await work(focus);
}

async function choosePermissions({ app }: Front, permissions: Permissions, connection: string): Promise<void> {
  const { selected, offered } = selectPermissionChoice(app.getState(), connection);
  const items = offered.map(({ id, name, description }) => ({
    id,
    label: name,
    detail: description,
    ...(id === selected ? { description: 'now' } : {}),
  }));
  const title = `Permissions of ${shownText(selectIdentityLabel(app.getState(), connection))}`;
  const picked = await vscode.window.showQuickPick(items, { title });
  if (picked) await permissions.choose(connection, picked.id);
}

/** Asks for what the settings name, keeps it there, and connects. Escape at any step changes nothing. */
async function connectInteractively(front: Front, attaching: Attaching): Promise<void> {
  const known = settings();
  const baseUrl = await vscode.window.showInputBox({
    title: 'Connect to a runtime (1/3)',
    prompt: 'Its address on this machine',
    value: known.baseUrl === '' ? 'http://127.0.0.1:' : known.baseUrl,
    ignoreFocusOut: true,
    validateInput: (value) => problemOf(() => checkedBaseUrl(value.trim())),
  });
  if (baseUrl === undefined) return;
  const clientId = await vscode.window.showInputBox({
    title: 'Connect to a runtime (2/3)',
    prompt: 'The client id that the token was minted for; leave it empty for the token of the runtime’s owner',
    value: known.clientId,
    ignoreFocusOut: true,
    validateInput: (value) =>
      value.trim() === '' || isClientId(value.trim())
        ? undefined
        : 'Use 1 to 128 letters, digits, dots, underscores or hyphens.',
  });
  if (clientId === undefined) return;
  const token = await askToken('Connect to a runtime (3/3)');
  if (token === undefined) return;
  await keepToken(front, token);
  const values = vscode.workspace.getConfiguration('supercode.frontend');
  await values.update('clientId', clientId.trim(), vscode.ConfigurationTarget.Global);
  await values.update('baseUrl', baseUrl.trim(), vscode.ConfigurationTarget.Global);
  attaching.fromSettings();
}

async function setToken(front: Front, attaching: Attaching): Promise<void> {
  const token = await askToken('Set the runtime token');
  if (token === undefined) return;
  await keepToken(front, token);
  attaching.fromSettings();
}

function askToken(title: string): Thenable<string | undefined> {
  return vscode.window.showInputBox({
    title,
    prompt: 'The runtime’s token. It goes to the secret storage of the editor, never into a setting.',
    password: true,
    ignoreFocusOut: true,
    validateInput: (value) => (isToken(value.trim()) ? undefined : 'A token is one word of printable characters.'),
  });
}

async function keepToken({ secrets }: Front, token: string): Promise<void> {
  if (await secrets.keep(TOKEN_KEY, token.trim())) return;
  void vscode.window.showWarningMessage(
    'The secret storage of the editor did not keep the token: it works until this window closes.',
  );
}

async function disconnectPicked(front: Front, attaching: Attaching): Promise<void> {
  const picked = await pickConnection(front, 'Disconnect from which runtime? It goes on without this window.');
  if (picked === undefined) return;
  await attaching.disconnect(picked);
  narrate('Volter Harness: disconnected.');
}

async function pickConnection({ app }: Front, placeHolder: string): Promise<string | undefined> {
  const root = app.getState();
  const items = Object.entries(root.connections).map(([id, { target }]) => ({
    id,
    label: shownText(selectConnectionName(root, id)),
    description: target.baseUrl,
    detail: selectPhaseLabel(root, id),
  }));
  if (items.length === 0) narrate('Volter Harness: no runtime is connected.');
  if (items.length < 2) return items[0]?.id;
  return (await vscode.window.showQuickPick(items, { placeHolder }))?.id;
}

async function showStatus(works: Works): Promise<void> {
  const { front } = works;
  const root = front.app.getState();
  const focus = selectFocus(root);
  const others = Object.keys(root.connections).filter((id) => id !== focus);
  const items: (vscode.QuickPickItem & { readonly run: () => unknown })[] = [
    { label: '$(comment-discussion) Open Chat', run: openChat },
    { label: '$(bell) Answer what waits…', run: () => COMMANDS.answer(works, undefined) },
    ...others.map((id) => ({
      label: `$(arrow-swap) Talk to ${shownText(selectConnectionName(root, id))}`,
      description: root.connections[id]?.target.baseUrl ?? '',
      run: () => {
        front.app.dispatch(connectionFocused({ connection: id }));
      },
    })),
    ...(focus === undefined
      ? []
      : [
          {
            label: '$(refresh) Connect again',
            description: selectPhaseLabel(root, focus),
            run: () => {
              works.attaching.again(focus);
            },
          },
        ]),
    ...(focus === undefined ? [] : turnItems(works, focus)),
    { label: '$(plug) Connect to a runtime…', run: () => connectInteractively(front, works.attaching) },
    ...(focus === undefined
      ? []
      : [{ label: '$(debug-disconnect) Disconnect…', run: () => disconnectPicked(front, works.attaching) }]),
    {
      label: '$(output) Show output',
      run: () => {
        front.log.show();
      },
    },
  ];
  const picked = await vscode.window.showQuickPick(items, { title: 'Volter Harness' });
  await picked?.run();
}

/** What can be done with the turns of a conversation that has any. */
function turnItems(works: Works, connection: string): (vscode.QuickPickItem & { readonly run: () => unknown })[] {
  const root = works.front.app.getState();
  const hasTurns = selectTurn(root, connection).phase !== 'idle' || (root.turn[connection]?.ended.length ?? 0) > 0;
  return [
    ...(selectChangedTurns(root, connection).length === 0
      ? []
      : [{ label: '$(diff) Review changes of a turn…', run: () => reviewPicked(works.front, connection) }]),
    ...(hasTurns ? [{ label: '$(save) Save this turn…', run: () => saveTurn(works.front, connection) }] : []),
  ];
}

function problemOf(check: () => unknown): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
