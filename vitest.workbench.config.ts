import { defineConfig } from 'vitest/config';
import base, { SLOW } from './vitest.config.js';

// In a real workbench: one at a time, because each takes most of a core.
export default defineConfig({
  ...(base.resolve ? { resolve: base.resolve } : {}),
  test: {
    include: [...SLOW, 'test/workbench/**/*.test.ts'],
    globalSetup: ['test/workbench/install.ts'],
    fileParallelism: false,
    // A browser on a busy machine may miss a click; what fails twice is a defect.
    retry: 1,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000,
  },
});
