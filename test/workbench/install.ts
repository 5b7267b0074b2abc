import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createVSIX } from '@vscode/vsce';
import type { TestProject } from 'vitest/node';
import { build } from '../../scripts/build.mjs';
import { setUpWorkbench } from '../../scripts/workbench.mjs';

declare module 'vitest' {
  interface ProvidedContext {
    /** The packaged extension, with and without the proposals, and the double of a product that bundles it. */
    vsix: { readonly stock: string; readonly granted: string; readonly product: string };
  }
}

/** Sets the workbench up where it is missing, builds the extension and packs it as it is published. */
export async function setup(project: TestProject): Promise<() => void> {
  await setUpWorkbench();
  await build();
  const folder = mkdtempSync(join(tmpdir(), 'extension-'));
  const vsix = {
    stock: join(folder, 'stock.vsix'),
    granted: join(folder, 'granted.vsix'),
    product: join(folder, 'product.vsix'),
  };
  pack('--out', join(folder, 'stock'), '--no-proposals', '--vsix', vsix.stock);
  pack('--out', join(folder, 'granted'), '--vsix', vsix.granted);
  await createVSIX({
    cwd: join(import.meta.dirname, 'product'),
    packagePath: vsix.product,
    dependencies: false,
    // Else the packer warns that it may pack too much.
    ignoreFile: devNull,
    allowMissingRepository: true,
    skipLicense: true,
  });
  project.provide('vsix', vsix);
  return () => {
    rmSync(folder, { recursive: true, force: true });
  };
}

function pack(...args: readonly string[]): void {
  execFileSync(process.execPath, [join(import.meta.dirname, '../../scripts/pack-extension.mjs'), ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
