import * as vscode from 'vscode';
import { messageOf } from '../protocol/messageOf.js';
import { isPrompt, selectSavedHistory } from '../selectors/savedHistory.js';
import type { ConnectionId } from '../store/connections.js';
import type { RootState } from '../store/state.js';
import type { Front } from './front.js';
import { conversationResource } from './sessionResource.js';

const ARRIVED = 'supercode.frontend.arrivedSessions';
const REMEMBERED_SESSIONS = 64;

/** Shows one conversation: as a session of the editor where it has such, else as the Chat view. */
export async function revealConversation({ grants, log }: Front, connection: ConnectionId): Promise<void> {
  try {
    if (grants.has('chatSessionsProvider')) {
      // A preview would give way to the next one, with what was written in it.
      const options = { preview: false };
      await vscode.commands.executeCommand('vscode.open', conversationResource(connection), options);
    } else {
      await vscode.commands.executeCommand('workbench.action.chat.open');
    }
  } catch (error) {
    log.warn(`The conversation could not be shown: ${messageOf(error)}`);
  }
}

/**
 * A runtime that arrives with a history has its conversation opened, once: not again after a reload, which brings back
 * what was open. One without leaves the window alone.
 */
export class Arrivals {
  private readonly seen = new Set<ConnectionId>();

  constructor(private readonly front: Front) {}

  update(root: RootState): void {
    for (const [connection, { phase }] of Object.entries(root.connections)) {
      if (phase.name !== 'attached' || this.seen.has(connection)) continue;
      this.seen.add(connection);
      const transcript = root.transcript[connection];
      const hasHistory = selectSavedHistory(root, connection).some(isPrompt);
      void this.arrived(connection, transcript?.sessionId ?? connection, hasHistory);
    }
  }

  private async arrived(connection: ConnectionId, session: string, hasHistory: boolean): Promise<void> {
    const { workspaceState } = this.front.context;
    const known = workspaceState.get<readonly string[]>(ARRIVED, []);
    if (known.includes(session)) return;
    // One that came without a history has its conversation here: after a reload the person finds it where it was.
    await workspaceState.update(ARRIVED, [...known, session].slice(-REMEMBERED_SESSIONS));
    if (!hasHistory) return;
    if (this.front.grants.has('chatSessionsProvider')) await revealConversation(this.front, connection);
    // Nothing else shows a history there: the command that does is ready to be sent.
    else await suggestHistory();
  }
}

async function suggestHistory(): Promise<void> {
  await vscode.commands.executeCommand('workbench.action.chat.open', {
    query: '@supercode /history',
    isPartialQuery: true,
  });
}
