import { describe } from 'vitest';
import { attachRows } from './clientAttachRows.js';
import { conversation } from './clientConversation.js';
import { latency } from './clientLatency.js';
import { ClientRows } from './clientRows.js';
import { turnRows } from './clientTurnRows.js';
import type { OpenPeer, PeerKind } from './peer.js';

/** Runs every client row of the contract, and a long conversation, through our store and sagas against one make of peer. */
export const describeClient = (
  name: string,
  kind: PeerKind,
  openPeer: OpenPeer,
  { timeoutMs = 20_000, heavy = true }: { readonly timeoutMs?: number; readonly heavy?: boolean } = {},
): void => {
  describe(name, () => {
    const rows = new ClientRows(kind, openPeer, timeoutMs, heavy);
    describe('attaching', () => {
      attachRows(rows);
    });
    describe('turns, requests and control', () => {
      turnRows(rows);
    });
    conversation(rows);
    latency(rows);
    rows.checkCompleteness();
  });
};
