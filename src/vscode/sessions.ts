import type * as vscode from 'vscode';
import { messageOf } from '../protocol/messageOf.js';
import type { Grants } from './grants.js';
import { proposed, type SessionContent, type SessionItemController } from './proposed.js';
import { SESSION_TYPE } from './sessionResource.js';

export interface SessionsOptions {
  readonly context: vscode.ExtensionContext;
  readonly grants: Grants;
  readonly log: vscode.LogOutputChannel;
  /** The one that the prompts of a session go to. */
  readonly participant: vscode.ChatParticipant | undefined;
  /** What a session shows when it is opened. */
  readonly content: (resource: vscode.Uri) => Promise<SessionContent>;
  /** Brings the list up to date. */
  readonly refresh: () => Promise<void>;
}

/**
 * Registers the sessions of the editor's own list, where it has one. Each step by itself: an editor that lacks a member of
 * this proposal loses what needs it and no more.
 */
export function registerSessions(options: SessionsOptions): SessionItemController | undefined {
  const { context, grants, log, participant, content, refresh } = options;
  if (!grants.has('chatSessionsProvider')) return undefined;
  const attempt = <T extends vscode.Disposable>(what: string, make: () => T): T | undefined => {
    try {
      const made = make();
      context.subscriptions.push(made);
      return made;
    } catch (error) {
      log.warn(`${what} could not be registered: ${messageOf(error)}`);
      return undefined;
    }
  };
  if (participant) {
    attempt('The content of sessions', () =>
      proposed.chat.registerChatSessionContentProvider(
        SESSION_TYPE,
        { provideChatSessionContent: content },
        participant,
        // Stop needs no question: the turn is stopped, the conversation stays.
        { supportsInterruptions: true },
      ),
    );
  }
  return attempt('The list of sessions', () => proposed.chat.createChatSessionItemController(SESSION_TYPE, refresh));
}
