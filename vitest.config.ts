import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Tests of the pure rooms and of the sagas on fake time: they touch nothing outside, so their files share modules. */
const SHARED = ['test/{protocol,store,selectors,sagas}/**/*.test.ts', 'test/golden.test.ts', 'test/recordings.test.ts'];

export default defineConfig({
  // There is no module `vscode` outside of the editor.
  resolve: { alias: { vscode: fileURLToPath(new URL('test/doubles/vscode.ts', import.meta.url)) } },
  test: {
    testTimeout: 20_000,
    // Half of the tests wait for sockets and child processes; vitest would leave one of two cores to nobody.
    maxWorkers: 2,
    coverage: {
      provider: 'v8',
      include: ['src/store/**', 'src/selectors/**'],
      thresholds: { lines: 95, branches: 90, functions: 95 },
    },
    projects: [
      // Loading all modules anew for each of these files took longer than their tests.
      { extends: true, test: { name: 'shared', include: SHARED, isolate: false } },
      {
        extends: true,
        test: {
          name: 'apart',
          include: ['test/**/*.test.ts'],
          exclude: ['test/peers/**', 'test/conformance/real/**', 'test/workbench/**', ...SHARED],
        },
      },
    ],
  },
});
