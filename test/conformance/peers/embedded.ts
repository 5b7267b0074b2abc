import { realpath, rm } from 'node:fs/promises';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedRuntime, type EmbeddedRuntimeOptions } from '../../../src/runtime/embedded.js';
import { NATIVE_PROMPTS, type Peer, type PeerOptions } from '../peer.js';

const DEFAULT_LEASE_MS = 30_000;
const DEFAULT_KEEP_ALIVE_MS = 15_000;

/** The embedded runtime of this product, in this process. */
export const openEmbeddedPeer = async (options: PeerOptions = {}): Promise<Peer> => {
  const workspace = await realpath(mkdtempSync(join(tmpdir(), 'embedded-peer-')));
  return start(options, { workspace });
};

const start = async (options: PeerOptions, session: EmbeddedRuntimeOptions): Promise<Peer> => {
  const { leaseTtlMs = DEFAULT_LEASE_MS, keepAliveMs = DEFAULT_KEEP_ALIVE_MS } = options;
  const runtime = await startEmbeddedRuntime({
    ...session,
    leaseTtlMs,
    keepAliveMs,
    toolApproval: options.approval ?? 'on-request',
    permissionsEngine: options.legacyGate !== true,
  });
  let successor: Peer | undefined;
  return {
    kind: 'native',
    url: runtime.url,
    ownerToken: runtime.ownerToken,
    leaseTtlMs,
    keepAliveMs,
    workspace: runtime.workspace,
    prompts: NATIVE_PROMPTS,
    mint: (clientId, grant = 'interactive') => Promise.resolve(runtime.mint(clientId, grant)),
    restart: async () => {
      await runtime.kill();
      const { workspace, sessionId } = runtime;
      successor = await start(options, { workspace, sessionId, history: runtime.history() });
      return successor;
    },
    kill: () => runtime.kill(),
    close: async () => {
      await successor?.close();
      await runtime.kill();
      await rm(runtime.workspace, { recursive: true, force: true });
    },
  };
};
