import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/peers/**', 'test/conformance/real/**'],
    testTimeout: 20_000,
    coverage: {
      provider: 'v8',
      include: ['src/store/**', 'src/selectors/**'],
      thresholds: { lines: 95, branches: 90, functions: 95 },
    },
  },
});
