import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent } from './agent.js';
import { Approvals } from './approvals.js';
import { Credentials } from './credentials.js';
import type { Grant } from './grants.js';
import { Lease } from './lease.js';
import { RequestBroker } from './requests.js';
import type { Runtime } from './rpc.js';
import { RuntimeServer } from './server.js';
import { Session } from './session.js';
import type { ChatMessage } from './wire.js';
import { Workspace } from './workspace.js';

export interface EmbeddedRuntimeOptions {
  /** Chosen by the system when absent. */
  readonly port?: number;
  /** Where the tools work; a fresh temporary directory, removed at the end, when absent. */
  readonly workspace?: string;
  /** How long control lasts without a sign of life; 30 s when absent. */
  readonly leaseTtlMs?: number;
  /** How often an event stream carries a comment; 15 s when absent. */
  readonly keepAliveMs?: number;
  /** Whether tools ask first; `on-request` when absent. */
  readonly toolApproval?: 'on-request' | 'never';
  /** False answers approvals through the coarse gate, which remembers no `allow_for_session`. */
  readonly permissionsEngine?: boolean;
  /** With `history`: continue a session as a restarted process would, with sequences from 1 and an empty replay. */
  readonly sessionId?: string;
  readonly history?: readonly ChatMessage[];
  readonly model?: string;
}

/** A runtime in this process that speaks frontend.v2 on a loopback port, with a scripted agent behind it. */
export interface EmbeddedRuntime {
  readonly url: string;
  /** May mint, revoke and close; never hand it to a frontend. */
  readonly ownerToken: string;
  readonly sessionId: string;
  readonly workspace: string;
  /** Resolves when the runtime has ended, whoever ended it. */
  readonly ended: Promise<void>;
  /** A credential for one client, as the credential door would issue it. */
  mint(clientId: string, grant?: Grant): string;
  /** What to give to a successor that continues this session. */
  history(): readonly ChatMessage[];
  /** Ends the running turn, then the streams, then the server. */
  close(): Promise<void>;
  /** Drops everything at once and says nothing, like a killed process. */
  kill(): Promise<void>;
}

const LEASE_TTL_MS = 30_000;
const KEEP_ALIVE_MS = 15_000;
/** How long a closing runtime waits for slow readers before it drops them. */
const LAST_READ_MS = 500;

/** What each runtime that still runs would leave behind: one listener for all of them, however many a host starts. */
const leftovers = new Set<() => void>();
let isWatchingExit = false;

export const startEmbeddedRuntime = async (options: EmbeddedRuntimeOptions = {}): Promise<EmbeddedRuntime> => {
  const { keepAliveMs = KEEP_ALIVE_MS, leaseTtlMs = LEASE_TTL_MS, model = 'scripted/model' } = options;
  const policy = {
    toolApproval: options.toolApproval ?? 'on-request',
    permissionsEngine: options.permissionsEngine ?? true,
  };
  const temporary = options.workspace === undefined ? await mkdtemp(join(tmpdir(), 'supercode-demo-')) : undefined;
  const root = await realpath(options.workspace ?? temporary ?? tmpdir());
  const session = new Session(
    options.sessionId ?? newSessionId(),
    options.history ?? [systemPrompt(root, policy.toolApproval)],
  );
  const broker = new RequestBroker(session);
  const agent = new Agent(session, new Workspace(root), new Approvals(policy, broker));
  const credentials = new Credentials();
  let isClosing = false;
  let stopped: Promise<void> | undefined;
  let announceEnd = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    announceEnd = resolve;
  });

  /** Stops listening at once and clears up behind the last connection. */
  const stop = (): Promise<void> => {
    stopped ??= (async () => {
      const disconnected = server.stop();
      await Promise.race([disconnected, sleep(LAST_READ_MS, undefined, { ref: false })]);
      server.drop();
      await disconnected;
      if (temporary !== undefined) await rm(temporary, { recursive: true, force: true });
      leftovers.delete(onExit);
      announceEnd();
    })();
    return stopped;
  };

  // A host that ends without closing us must not leave commands or files behind.
  const onExit = (): void => {
    agent.kill();
    if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true });
  };
  leftovers.add(onExit);
  if (!isWatchingExit) {
    isWatchingExit = true;
    process.on('exit', () => {
      for (const clearUp of leftovers) clearUp();
    });
  }

  const runtime: Runtime = {
    session,
    agent,
    broker,
    lease: new Lease(leaseTtlMs),
    model: { configured: model, current: model },
    isClosing: () => isClosing,
    // A pending approval holds its turn, and with it this, as it does in the real runtime (§8.2).
    close: async () => {
      await agent.close();
      isClosing = true;
      void stop();
    },
  };
  const server = new RuntimeServer(runtime, credentials, keepAliveMs);
  const url = await server.listen(options.port ?? 0);

  return {
    url,
    ownerToken: credentials.ownerToken,
    sessionId: session.id,
    workspace: root,
    ended,
    mint: (clientId, grant = 'interactive') => credentials.mint(clientId, grant),
    history: () => session.history,
    close: async () => {
      broker.withdrawAll();
      await runtime.close();
      await stop();
    },
    kill: async () => {
      agent.kill();
      broker.withdrawAll();
      isClosing = true;
      server.drop();
      await stop();
    },
  };
};

const ADJECTIVES = ['amber', 'brave', 'calm', 'eager', 'fond', 'keen', 'merry', 'quiet', 'rapid', 'sunny'];
const ANIMALS = ['badger', 'crane', 'falcon', 'gecko', 'heron', 'ibex', 'lynx', 'otter', 'seal', 'wren'];

const newSessionId = (): string => {
  const random = randomBytes(10);
  const pick = (words: readonly string[], at: number): string => words[random.readUInt8(at) % words.length] ?? 'demo';
  return `${random.subarray(0, 8).toString('hex')}-${pick(ADJECTIVES, 8)}-${pick(ANIMALS, 9)}`;
};

const systemPrompt = (cwd: string, approval: string): ChatMessage => ({
  role: 'system',
  content: [
    'Scripted demo runtime.',
    '',
    '# Environment',
    `cwd: ${cwd}`,
    `platform: ${process.platform}`,
    `date: ${new Date().toISOString().slice(0, 10)}`,
    `approval policy: ${approval} · sandbox: workspace-write`,
    '',
  ].join('\n'),
});
