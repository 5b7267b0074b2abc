import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { NATIVE_PROMPTS, type Peer, type PeerOptions } from '../peer.js';

const SCRIPT = fileURLToPath(new URL('../../peers/real-runtime.sh', import.meta.url));
const run = promisify(execFile);

/** Where the installed runtime is, or would be. */
export const runtimeBinary = (): string =>
  process.env['SUPERCODE_BIN'] ??
  join(process.env['SUPERCODE_CACHE'] ?? join(homedir(), '.cache', 'supercode-peer'), 'bin', 'supercode');

export const hasRealRuntime = (): boolean => existsSync(runtimeBinary());

/** A missing peer is a failure here, not a reason to skip. */
export const peersAreRequired = (): boolean => Boolean(process.env['CI']) || process.env['REQUIRE_PEERS'] === '1';

/** `supercode serve` with a scripted model behind it, both in processes of their own with a private state directory. */
export const openRealPeer = async (options: PeerOptions = {}): Promise<Peer> => {
  const state = await realpath(await mkdtemp(join(tmpdir(), 'real-peer-')));
  const env = {
    ...process.env,
    SUPERCODE_BIN: runtimeBinary(),
    REAL_RUNTIME_STATE: state,
    REAL_RUNTIME_APPROVAL: options.approval ?? 'on-request',
    ...(options.legacyGate === true && { REAL_RUNTIME_LEGACY_GATE: '1' }),
  };
  const script = async (...args: string[]): Promise<string> =>
    (await run('bash', [SCRIPT, ...args], { env, timeout: 60_000 })).stdout;
  const close = async (): Promise<void> => {
    await script('down');
    await rm(state, { recursive: true, force: true });
  };
  try {
    await script('up');
  } catch (error) {
    await close();
    throw error;
  }
  return describeProcess(state, script, close);
};

const describeProcess = async (
  state: string,
  script: (...args: string[]) => Promise<string>,
  close: () => Promise<void>,
): Promise<Peer> => {
  const read = (name: string): Promise<string> => readFile(join(state, name), 'utf8');
  return {
    kind: 'native',
    url: await read('url'),
    ownerToken: await read('token'),
    leaseTtlMs: 30_000,
    keepAliveMs: 15_000,
    workspace: join(state, 'workspace'),
    prompts: NATIVE_PROMPTS,
    mint: async (clientId, grant = 'interactive') => {
      const file = (await script('mint', clientId, grant)).trim();
      return readFile(file, 'utf8');
    },
    restart: async () => {
      await script('restart');
      // The successor shares the state directory: closing this peer closes it.
      return describeProcess(state, script, () => Promise.resolve());
    },
    kill: async () => {
      process.kill(Number(await read('runtime.pid')), 'SIGKILL');
    },
    close,
  };
};
