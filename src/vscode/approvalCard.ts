import * as vscode from 'vscode';
import { previewBlock } from '../selectors/fallback.js';
import type { RequestPart } from '../selectors/parts.js';
import type { ConnectionId } from '../store/connections.js';
import { shownText } from './shownText.js';

/** What a host draws as its own card, with a button for each answer. Source: host-controls §13. */
export interface ApprovalCard {
  readonly title: string;
  readonly message: vscode.MarkdownString;
  readonly data: object;
  readonly buttons: string[];
}

/** The card of a request; undefined for one that no card can carry. */
export function approvalCard(connectionId: ConnectionId, part: RequestPart): ApprovalCard | undefined {
  if (part.requestKind !== 'approval' || part.answers.length === 0) return undefined;
  const { requestId, answers } = part;
  return {
    // Plain text, wherever it was seen; a host may read it as Markdown.
    title: shownText(part.title),
    message: new vscode.MarkdownString(previewBlock(part.preview)),
    data: {
      kind: 'supercode.inTurnApproval',
      version: 1,
      answers: answers.map(({ label, response }) => ({ connectionId, requestId, label, response })),
    },
    buttons: answers.map(({ label }) => label),
  };
}
