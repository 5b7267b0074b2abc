import { defineConfig } from 'vitest/config';

// Against the real peers: one process at a time, in real time (a lease of 30 s, a keep-alive of 15 s).
export default defineConfig({
  test: {
    include: ['test/conformance/real/**/*.test.ts'],
    globalSetup: ['test/conformance/real/install.ts'],
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 30_000,
  },
});
