import * as vscode from 'vscode';
import { messageOf } from '../protocol/messageOf.js';
import type { Grants } from './grants.js';
import { SESSION_TYPE } from './sessionResource.js';

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

export interface ParticipantsOptions {
  readonly context: vscode.ExtensionContext;
  readonly grants: Grants;
  readonly log: vscode.LogOutputChannel;
  readonly handler: vscode.ChatRequestHandler;
}

/**
 * Registers those that this editor shows. The one of sessions has their type for an id, and stands in the manifest like the
 * others: the editor puts the name of a dynamic one into the composer as a mention (ADR 11).
 */
export class Participants {
  private readonly all: readonly vscode.ChatParticipant[];
  private readonly own: vscode.Uri;
  private icon: string | undefined;

  constructor({ context, grants, log, handler }: ParticipantsOptions) {
    this.own = vscode.Uri.joinPath(context.extensionUri, 'media', 'icon.png');
    const ids = [
      PLAIN_PARTICIPANT,
      ...(grants.has('defaultChatParticipant') ? [DEFAULT_PARTICIPANT] : []),
      ...(grants.has('chatSessionsProvider') ? [SESSION_TYPE] : []),
    ];
    // Each by itself: one refusal must not take the others down.
    this.all = ids.flatMap((id) => {
      try {
        const participant = vscode.chat.createChatParticipant(id, handler);
        participant.iconPath = this.own;
        return [participant];
      } catch (error) {
        log.warn(`The participant ${id} could not be registered: ${messageOf(error)}`);
        return [];
      }
    });
    context.subscriptions.push(...this.all);
  }

  /** The one that the prompts of a session go to. */
  get ofSessions(): vscode.ChatParticipant | undefined {
    return this.all.find(({ id }) => id === SESSION_TYPE);
  }

  /** Wears the icon of who answers (a codicon's name), or the product's own. */
  wear(icon: string | undefined): void {
    if (icon === this.icon) return;
    this.icon = icon;
    for (const each of this.all) each.iconPath = icon === undefined ? this.own : new vscode.ThemeIcon(icon);
  }
}
