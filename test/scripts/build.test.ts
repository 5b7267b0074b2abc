import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { build, loadedBytes } from '../../scripts/build.mjs';

const KB = 1024;

it('the extension loads next to nothing at the start of a window, and at most 150 KB for a runtime to attach to', async () => {
  const outdir = mkdtempSync(join(tmpdir(), 'build-'));
  try {
    const { start, attached, chatting, packed } = loadedBytes((await build(outdir)).extension);
    // What is bundled goes nowhere without its licence.
    const notices = readFileSync(join(outdir, 'THIRD-PARTY-NOTICES.txt'), 'utf8');
    for (const name of ['@reduxjs/toolkit', 'redux-saga', 'valibot', 'diff']) expect(notices).toContain(`${name} `);
    expect(start).toBeLessThan(10 * KB);
    expect(attached).toBeLessThanOrEqual(150 * KB);
    expect([start, attached, chatting, packed].toSorted((a, b) => a - b)).toEqual([start, attached, chatting, packed]);
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
});
