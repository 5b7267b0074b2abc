import * as vscode from 'vscode';
import { title } from '../selectors/bounds.js';
import { isOver, selectPhaseLabel, whyOver } from '../selectors/connections.js';
import { selectFocus } from '../selectors/focus.js';
import { selectIdentityLabel } from '../selectors/identity.js';
import { selectControlLabel } from '../selectors/lease.js';
import { escapeMarkdown } from '../selectors/markdown.js';
import { selectWaitingIds } from '../selectors/requests.js';
import { selectTurnLabel } from '../selectors/turn.js';
import type { RootState } from '../store/state.js';
import { shownText } from './shownText.js';

export interface StatusText {
  readonly text: string;
  readonly tooltip: string;
  readonly waits: boolean;
}

/** What the status bar says; undefined while there is no runtime to say anything of. */
export function statusText(root: RootState): StatusText | undefined {
  const connections = Object.keys(root.connections);
  const focus = selectFocus(root);
  if (focus === undefined) return undefined;
  const waiting = connections.reduce((count, id) => count + selectWaitingIds(root, id).length, 0);
  const phase = root.connections[focus]?.phase;
  const label = phase?.name === 'attached' ? selectIdentityLabel(root, focus) : selectPhaseLabel(root, focus);
  const shown = shownText(title(label, LABEL_LIMIT));
  const icon = waiting > 0 ? '$(bell-dot)' : (ICONS[phase?.name ?? 'closed'] ?? '$(debug-disconnect)');
  return {
    text: `${icon} ${shown}${waiting > 0 ? ` (${waiting} waiting)` : ''}`,
    tooltip: connections.map((id) => tooltipOf(root, id)).join('\n\n'),
    waits: waiting > 0,
  };
}

const LABEL_LIMIT = 60;
const ICONS: Readonly<Record<string, string>> = {
  attached: '$(comment-discussion)',
  connecting: '$(sync~spin)',
  reconnecting: '$(sync~spin)',
};

function tooltipOf(root: RootState, connection: string): string {
  const known = root.connections[connection];
  const phase = known?.phase;
  const waiting = selectWaitingIds(root, connection).length;
  const lines = [
    `**${escapeMarkdown(selectIdentityLabel(root, connection))}** at ${escapeMarkdown(known?.target.baseUrl ?? '')}`,
    selectPhaseLabel(root, connection),
    isOver(phase) ? escapeMarkdown(whyOver(phase)) : undefined,
    phase?.name === 'attached' ? escapeMarkdown(selectControlLabel(root.lease, connection) ?? '') : undefined,
    escapeMarkdown(selectTurnLabel(root, connection) ?? ''),
    waiting === 0 ? undefined : `${waiting === 1 ? 'One request waits' : `${waiting} requests wait`} for your answer`,
  ];
  return lines.filter((line) => line !== undefined && line !== '').join('  \n');
}

/** Keeps the item as the state is, and writes to it only where that differs. */
export class StatusBar {
  private readonly item = vscode.window.createStatusBarItem('supercode.status', vscode.StatusBarAlignment.Right, 100);
  private shown: StatusText | undefined;

  constructor() {
    this.item.name = 'Volter Harness';
    this.item.command = 'supercode.frontend.showStatus';
  }

  update(root: RootState): void {
    const next = statusText(root);
    if (next === undefined) {
      if (this.shown) this.item.hide();
    } else if (next.text !== this.shown?.text || next.tooltip !== this.shown.tooltip) {
      this.item.text = next.text;
      this.item.tooltip = new vscode.MarkdownString(next.tooltip);
      this.item.backgroundColor = next.waits ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined;
      if (!this.shown) this.item.show();
    }
    this.shown = next;
  }

  dispose(): void {
    this.item.dispose();
  }
}
