import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/*.test.js'],
    globalSetup: 'test/built.js',
    // A purchase on the real system takes some seconds, and machines that run browsers can be slow.
    testTimeout: 180_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000,
    expect: { poll: { timeout: 60_000 } },
    // Most of a test is waiting: for intervals of the page, and for paint.
    maxWorkers: 6,
  },
});
