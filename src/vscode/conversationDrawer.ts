import type * as vscode from 'vscode';
import type { ConnectionId } from '../store/connections.js';
import { approvalCard } from './approvalCard.js';
import { PartDrawer } from './drawPart.js';
import type { Front } from './front.js';
import { answerButtons } from './respond.js';

export interface ConversationDrawerOptions {
  readonly front: Front;
  readonly connection: ConnectionId;
  readonly stream: vscode.ChatResponseStream;
  /** Whether the response stands in the session of that very conversation: a host draws a card nowhere else. */
  readonly inSession?: boolean;
}

/** Draws one conversation's parts, with what answers its requests. */
export function conversationDrawer(options: ConversationDrawerOptions): PartDrawer {
  const { front, connection, stream, inSession = false } = options;
  return new PartDrawer({
    stream,
    grants: front.grants,
    buttons: (part) => answerButtons(front, connection, part),
    card: (part) => (inSession && front.hasCards ? approvalCard(connection, part) : undefined),
  });
}
