import * as vscode from 'vscode';
import { selectFocus } from '../selectors/focus.js';
import { selectRequestKey, selectWaitingIds } from '../selectors/requests.js';
import type { ConnectionId } from '../store/connections.js';
import { isTurnGoingOn } from '../selectors/turn.js';
import type { RootState } from '../store/state.js';
import type { Front } from './front.js';
import { SECTION } from './settings.js';
import { shownText } from './shownText.js';
import { StatusBar } from './statusBar.js';
import { watchState } from './watchState.js';

/** How often what is shown beside the chat may change; ms. */
const SHOW_EVERY_MS = 100;

/** What a person sees of it all without looking at the chat: the status bar, keys for what waits, a notification. */
export function watchAttention(front: Front, reveal: (connection: ConnectionId) => void): void {
  const { app, context } = front;
  const bar = new StatusBar();
  const keys = new ContextKeys();
  const notifier = new Notifier(front, reveal);
  const looksAt = ({ connections, turn, requests, lease, permissions, focus }: RootState) => [
    connections,
    turn,
    requests,
    lease,
    permissions,
    focus,
  ];
  context.subscriptions.push(
    bar,
    watchState(app, looksAt, SHOW_EVERY_MS, (root) => {
      bar.update(root);
      keys.update(root);
      notifier.update(root);
    }),
  );
}

class ContextKeys {
  private readonly set = new Map<string, boolean>();

  update(root: RootState): void {
    const focus = selectFocus(root);
    const connected = focus !== undefined && root.connections[focus]?.phase.name === 'attached';
    this.put('supercodeConnected', Object.keys(root.connections).length > 0);
    this.put('supercodeTurnRunning', connected && isTurnGoingOn(root, focus));
    this.put('supercodeRequestWaiting', focus !== undefined && selectWaitingIds(root, focus).length > 0);
  }

  private put(key: string, value: boolean): void {
    if (this.set.get(key) === value) return;
    this.set.set(key, value);
    void vscode.commands.executeCommand('setContext', key, value);
  }
}

/** Tells once of each request that waits where nobody looks. */
class Notifier {
  private readonly told = new Set<string>();

  constructor(
    private readonly front: Front,
    private readonly reveal: (connection: ConnectionId) => void,
  ) {}

  update(root: RootState): void {
    const focus = selectFocus(root);
    for (const connection of Object.keys(root.connections)) {
      for (const id of selectWaitingIds(root, connection)) {
        const key = `${connection} ${selectRequestKey(root, connection, id)}`;
        if (this.told.has(key)) continue;
        this.told.add(key);
        const isSeen = vscode.window.state.focused && connection === focus;
        if (!isSeen && mayNotify()) void this.notify(connection, id);
      }
    }
  }

  private async notify(connection: ConnectionId, id: number): Promise<void> {
    const [{ selectWaitingRequests }, { answer }] = await Promise.all([
      import('../selectors/waitingRequests.js'),
      import('./respond.js'),
    ]);
    const waiting = selectWaitingRequests(this.front.app.getState(), connection);
    const request = waiting.find(({ part }) => part.requestId === id);
    if (!request) return;
    // A form, and what needs to be read first, is for the chat; a plain answer may be given from here.
    const answers = request.part.requestKind === 'approval' ? request.part.answers.slice(0, ANSWERS_SHOWN) : [];
    const show = 'Show';
    const labels = [show, ...answers.map(({ label }) => label)];
    const told = `The agent waits for you: ${shownText(request.part.title)}`;
    const picked = await vscode.window.showInformationMessage(told, ...labels);
    const choice = answers.find(({ label }) => label === picked);
    if (picked === show) this.reveal(connection);
    else if (choice) await answer(this.front, request, choice);
  }
}

const ANSWERS_SHOWN = 3;

function mayNotify(): boolean {
  const when = vscode.workspace.getConfiguration(SECTION).get<string>('notifyWhenRequestWaits', 'unfocused');
  return when !== 'never';
}
