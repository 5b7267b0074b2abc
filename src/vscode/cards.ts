import * as vscode from 'vscode';
import type { Grants } from './grants.js';

const CAPABILITY = 'volter.chat.inTurnApprovalCapability';

/**
 * Whether this editor answers a card inside the running turn; a stock one would send a new prompt, and nothing arrive.
 * Source: host-controls §13.
 */
export class Cards {
  private are = false;

  constructor(private readonly grants: Grants) {}

  get areThere(): boolean {
    return this.are;
  }

  /** Asks, until the answer is yes: what provides it may come later than the first chat. */
  async look(): Promise<void> {
    if (this.are || !this.grants.has('chatParticipantAdditions')) return;
    try {
      if (!(await vscode.commands.getCommands(true)).includes(CAPABILITY)) return;
      const capability = await vscode.commands.executeCommand<{ readonly version?: unknown } | undefined>(CAPABILITY);
      this.are = capability?.version === 1;
    } catch {
      // One that can't say so has none.
    }
  }
}
