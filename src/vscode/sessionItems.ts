import * as vscode from 'vscode';
import { selectConversationRows, type ConversationRow } from '../selectors/conversations.js';
import type { RootState } from '../store/state.js';
import { proposed, type SessionItem, type SessionItemController } from './proposed.js';
import { conversationResource } from './sessionResource.js';

/** Keeps the editor's list of sessions as the state is, and publishes it only where a row differs. */
export class SessionItems {
  private readonly shown = new Map<string, { readonly key: string; readonly item: SessionItem }>();
  private order = '';

  constructor(
    private readonly controller: SessionItemController,
    private readonly icon: vscode.Uri,
  ) {}

  update(root: RootState): void {
    const rows = selectConversationRows(root);
    const before = new Set([...this.shown.values()].map(({ item }) => item));
    const items = rows.map((row) => {
      const key = JSON.stringify(row);
      const known = this.shown.get(row.connection);
      if (known?.key === key) return known.item;
      const item = this.itemOf(row);
      this.shown.set(row.connection, { key, item });
      return item;
    });
    const order = JSON.stringify(rows.map(({ connection }) => connection));
    if (order === this.order && items.every((item) => before.has(item))) return;
    this.order = order;
    for (const id of this.shown.keys()) if (!rows.some(({ connection }) => connection === id)) this.shown.delete(id);
    this.controller.items.replace(items);
  }

  private itemOf(row: ConversationRow): SessionItem {
    const item = this.controller.createChatSessionItem(conversationResource(row.connection), row.label);
    item.description = row.description;
    item.iconPath = row.icon === null ? this.icon : new vscode.ThemeIcon(row.icon);
    item.status = proposed.ChatSessionStatus[STATUS[row.status]];
    item.timing = {
      created: row.attachedAt,
      ...(row.turnStartedAt === null ? {} : { lastRequestStarted: row.turnStartedAt }),
      ...(row.turnEndedAt === null ? {} : { lastRequestEnded: row.turnEndedAt }),
    };
    return item;
  }
}

const STATUS = {
  needsInput: 'NeedsInput',
  inProgress: 'InProgress',
  failed: 'Failed',
  completed: 'Completed',
} as const;
