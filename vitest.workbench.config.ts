import { defineConfig } from 'vitest/config';

// In a real workbench: one at a time, because each takes most of a core.
export default defineConfig({
  test: {
    include: ['test/workbench/**/*.test.ts'],
    globalSetup: ['test/workbench/install.ts'],
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000,
  },
});
