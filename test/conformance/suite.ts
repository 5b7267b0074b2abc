import { describe } from 'vitest';
import type { OpenPeer, PeerKind } from './peer.js';
import { Rows } from './rows.js';
import { attachRows } from './rows/attach.js';
import { credentialRows } from './rows/credentials.js';
import { envelopeRows } from './rows/envelope.js';
import { hostedRequestRows } from './rows/hostedRequests.js';
import { leaseRows } from './rows/lease.js';
import { requestRows } from './rows/requests.js';
import { streamRows } from './rows/stream.js';
import { turnInputRows } from './rows/turnInputs.js';
import { turnRows } from './rows/turns.js';

const GROUPS = {
  'authentication and envelope': envelopeRows,
  'descriptor and attach': attachRows,
  stream: streamRows,
  turns: turnRows,
  'inputs to a turn, failures and tools': turnInputRows,
  requests: (rows: Rows) => {
    requestRows(rows);
    hostedRequestRows(rows);
  },
  lease: leaseRows,
  'credentials and shutdown': credentialRows,
};

/** Runs every server row of the contract against one make of server (docs/contracts/frontend-v2.md §12). */
export const describeServer = (
  name: string,
  kind: PeerKind,
  openPeer: OpenPeer,
  { timeoutMs = 20_000 }: { readonly timeoutMs?: number } = {},
): void => {
  describe(name, () => {
    const rows = new Rows(kind, openPeer, timeoutMs);
    for (const [group, register] of Object.entries(GROUPS)) {
      describe(group, () => {
        register(rows);
      });
    }
    rows.checkCompleteness();
  });
};
