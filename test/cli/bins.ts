import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { buildSync } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));

export const VERSION = (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version;

/** The programs as they are built for the package, in a folder of their own from which they find theirs. */
export function buildBins(name: string): { readonly chat: string; readonly replay: string; remove(): void } {
  const outdir = join(root, 'node_modules', '.cache', `test-cli-${name}-${process.pid}`);
  mkdirSync(outdir, { recursive: true });
  buildSync({
    entryPoints: [join(root, 'src/cli/chat.ts'), join(root, 'src/cli/replay.ts')],
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    logLevel: 'warning',
    banner: { js: '#!/usr/bin/env node' },
    define: { __PRODUCT_VERSION__: JSON.stringify(VERSION) },
  });
  return {
    chat: join(outdir, 'chat.mjs'),
    replay: join(outdir, 'replay.mjs'),
    remove: () => {
      rmSync(outdir, { recursive: true, force: true });
    },
  };
}
