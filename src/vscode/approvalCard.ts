import * as vscode from 'vscode';
import { previewBlock } from '../selectors/fallback.js';
import { escapeMarkdown } from '../selectors/markdown.js';
import type { RequestPart } from '../selectors/parts.js';
import type { ConnectionId } from '../store/connections.js';

const CAPABILITY = 'volter.chat.inTurnApprovalCapability';

/** What a host draws as its own card, with a button for each answer. Source: host-controls §13. */
export interface ApprovalCard {
  readonly title: string;
  readonly message: vscode.MarkdownString;
  readonly data: object;
  readonly buttons: string[];
}

/** Whether this editor answers a card inside the running turn; a stock one would send a new prompt, and nothing arrive. */
export async function hasInTurnApprovals(): Promise<boolean> {
  if (!(await vscode.commands.getCommands(true)).includes(CAPABILITY)) return false;
  try {
    const capability = await vscode.commands.executeCommand<{ readonly version?: unknown } | undefined>(CAPABILITY);
    return capability?.version === 1;
  } catch {
    return false;
  }
}

/** The card of a request; undefined for one that no card can carry. */
export function approvalCard(connectionId: ConnectionId, part: RequestPart): ApprovalCard | undefined {
  if (part.requestKind !== 'approval' || part.answers.length === 0) return undefined;
  const { requestId, answers } = part;
  return {
    title: escapeMarkdown(part.title),
    message: new vscode.MarkdownString(previewBlock(part.preview)),
    data: {
      kind: 'supercode.inTurnApproval',
      version: 1,
      answers: answers.map(({ label, response }) => ({ connectionId, requestId, label, response })),
    },
    buttons: answers.map(({ label }) => label),
  };
}
