import { spawnSync } from 'node:child_process';
import { hasRealRuntime, peersAreRequired } from '../peers/real.js';
import { homedir } from 'node:os';
import { join } from 'node:path';

const VERSION = '0.5.150';

/** Where peers are required a missing runtime is built, as test/peers/real-runtime.sh does; 10–17 minutes, once. */
export const setup = (): void => {
  if (hasRealRuntime() || !peersAreRequired() || process.env['SUPERCODE_BIN'] !== undefined) return;
  const root = process.env['SUPERCODE_CACHE'] ?? join(homedir(), '.cache', 'supercode-peer');
  const args = ['install', 'supercode-cli', '--version', VERSION, '--locked', '--root', root];
  console.log(`Building supercode-cli ${VERSION} into ${root}: this takes 10–17 minutes, once.`);
  const { status, error } = spawnSync('cargo', args, { stdio: 'inherit' });
  if (status !== 0) console.error(`cargo install failed: ${error?.message ?? `exit code ${status}`}`);
};
