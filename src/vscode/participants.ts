import * as vscode from 'vscode';
import type { Grants } from './grants.js';

/** Answers a mention of `@supercode`; stands in every editor. */
export const PLAIN_PARTICIPANT = 'supercode.chat';
/** Answers every prompt; only where the editor lets an extension be the default. */
export const DEFAULT_PARTICIPANT = 'supercode.chat.default';

/** Tells the manifest which participants this editor is to show. */
export function setParticipantKeys(grants: Grants): void {
  void vscode.commands.executeCommand(
    'setContext',
    'supercodeChatDefaultParticipant',
    grants.has('defaultChatParticipant'),
  );
  void vscode.commands.executeCommand('setContext', 'supercodeChatSessions', grants.has('chatSessionsProvider'));
}

/** Registers what this editor shows; each by itself, because one refusal must not take the other down. */
export function registerParticipants(
  context: vscode.ExtensionContext,
  grants: Grants,
  handler: vscode.ChatRequestHandler,
): void {
  const ids = grants.has('defaultChatParticipant') ? [PLAIN_PARTICIPANT, DEFAULT_PARTICIPANT] : [PLAIN_PARTICIPANT];
  for (const id of ids) {
    const participant = vscode.chat.createChatParticipant(id, handler);
    participant.iconPath = vscode.Uri.joinPath(context.extensionUri, 'media', 'icon.png');
    context.subscriptions.push(participant);
  }
}
