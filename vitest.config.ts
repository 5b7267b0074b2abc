import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/**
 * Tests of the pure rooms, of the sagas on fake time and of the editor's side on a fake editor: each makes all that it
 * needs anew, so their files share modules.
 */
const SHARED = [
  'test/{protocol,store,selectors,sagas,vscode,doubles}/**/*.test.ts',
  'test/golden.test.ts',
  'test/recordings.test.ts',
];

/** Run with the workbench: they pack, compile and start programs, over and over. */
export const SLOW = [
  'test/scripts/start.test.ts',
  'test/scripts/packExtension.test.ts',
  'test/vscode/proposed.test.ts',
];

export default defineConfig({
  // There is no module `vscode` outside of the editor.
  resolve: { alias: { vscode: fileURLToPath(new URL('test/doubles/vscode.ts', import.meta.url)) } },
  test: {
    testTimeout: 20_000,
    // Most of the time of the tests is waiting for sockets and child processes, so more of them than cores run at once.
    maxWorkers: 3,
    coverage: {
      provider: 'v8',
      include: ['src/store/**', 'src/selectors/**'],
      thresholds: { lines: 95, branches: 90, functions: 95 },
    },
    projects: [
      // Loading all modules anew for each of these files took longer than their tests.
      { extends: true, test: { name: 'shared', include: SHARED, exclude: SLOW, isolate: false } },
      {
        extends: true,
        test: {
          name: 'apart',
          include: ['test/**/*.test.ts'],
          exclude: ['test/peers/**', 'test/conformance/real/**', 'test/workbench/**', ...SLOW, ...SHARED],
        },
      },
    ],
  },
});
