import type * as vscode from 'vscode';
import type { RequestPart } from '../selectors/parts.js';
import type { ConnectionId } from '../store/connections.js';
import { approvalCard } from './approvalCard.js';
import { askByCarousel } from './carousel.js';
import { PartDrawer } from './drawPart.js';
import type { Front } from './front.js';
import type { ProposedStream } from './proposed.js';
import { answerButtons } from './respond.js';

export interface ConversationDrawerOptions {
  readonly front: Front;
  readonly connection: ConnectionId;
  readonly stream: vscode.ChatResponseStream;
  /** Whether the response stands in the session of that very conversation: a host draws a card nowhere else. */
  readonly inSession?: boolean;
  /** Whether the response is that of a prompt: the editor takes answers to its own questions nowhere else. */
  readonly isLive?: boolean;
}

/** Draws one conversation's parts, with what answers its requests. */
export function conversationDrawer(options: ConversationDrawerOptions): PartDrawer {
  const { front, connection, stream, inSession = false, isLive = false } = options;
  return new PartDrawer({
    stream,
    grants: front.grants,
    buttons: (part) => answerButtons(front, connection, part),
    card: (part) => (inSession && front.cards.areThere ? approvalCard(connection, part) : undefined),
    ...(isLive
      ? {
          ask: (part: RequestPart, to: ProposedStream) => {
            if (part.requestKind === 'elicitation') void askByCarousel(front, connection, part, to);
          },
        }
      : {}),
  });
}
