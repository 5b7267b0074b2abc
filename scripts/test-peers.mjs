// `npm run test:peers`: the suites that need a real runtime. Arguments go to vitest.
import { spawnSync } from 'node:child_process';

const args = ['run', '--config', 'vitest.peers.config.ts', ...process.argv.slice(2)];
const { status } = spawnSync('vitest', args, { stdio: 'inherit', shell: process.platform === 'win32' });
process.exit(status ?? 1);
