import { defineConfig } from 'vitest/config';

/** These put something else in the place of a module of Node's, which must not outlive them. */
const ALONE = ['test/services/credentialFile.test.ts'];

export default defineConfig({
  test: {
    testTimeout: 20_000,
    coverage: {
      provider: 'v8',
      include: ['src/store/**', 'src/selectors/**'],
      thresholds: { lines: 95, branches: 90, functions: 95 },
    },
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: ['test/peers/**', 'test/conformance/real/**', ...ALONE],
          // No test changes a module; loading them all anew for each file took longer than most of the tests.
          isolate: false,
        },
      },
      { extends: true, test: { name: 'alone', include: ALONE } },
    ],
  },
});
