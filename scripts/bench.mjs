// `npm run bench [-- --quick | --json | --check]`: bundles bench/ as a product is bundled, and runs it. See docs/benchmarks.md.
import { build as bundle } from 'esbuild';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, loadedBytes } from './build.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const outdir = join(root, '.cache/bench');

// Beside, so that nobody's dist/ changes under him.
const { extension } = await build(join(outdir, 'dist'));
const fileOf = (entryPoint) =>
  join(
    root,
    Object.keys(extension.outputs).find((path) => extension.outputs[path].entryPoint === entryPoint),
  );
const built = {
  entry: fileOf('src/vscode/extension.ts'),
  first: fileOf('src/vscode/main.ts'),
  bytes: loadedBytes(extension),
};
await bundle({
  absWorkingDir: root,
  entryPoints: ['bench/bench.ts', 'bench/startOnce.ts', 'bench/emptyExtension.ts'],
  outdir,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.12',
  packages: 'external',
  sourcemap: true,
  define: { 'process.env.NODE_ENV': '"production"' },
  logLevel: 'warning',
});

writeFileSync(join(outdir, 'built.json'), JSON.stringify(built));

// The packages stay outside of the bundle, so they have to be told as well.
const env = { ...process.env, NODE_ENV: 'production' };
const { status } = spawnSync(process.execPath, ['--expose-gc', join(outdir, 'bench.mjs'), ...process.argv.slice(2)], {
  stdio: 'inherit',
  env,
});
process.exit(status ?? 1);
