// `npm run bench [-- --quick | --json | --check]`: bundles bench/ as a product is bundled, and runs it. See docs/benchmarks.md.
import { build } from 'esbuild';
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const outfile = join(root, '.cache/bench/bench.mjs');

await build({
  absWorkingDir: root,
  entryPoints: ['bench/bench.ts'],
  outfile,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.12',
  packages: 'external',
  sourcemap: true,
  define: { 'process.env.NODE_ENV': '"production"' },
  logLevel: 'warning',
});

// The packages stay outside of the bundle, so they have to be told as well.
const env = { ...process.env, NODE_ENV: 'production' };
const { status } = spawnSync(process.execPath, ['--expose-gc', outfile, ...process.argv.slice(2)], {
  stdio: 'inherit',
  env,
});
process.exit(status ?? 1);
