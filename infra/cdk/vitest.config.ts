import { defineConfig } from 'vitest/config';

// The SDK says at each start that it wants a newer Node next year.
process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] = 'true';
// CDK's own check of each template takes longer than its synthesis. `npm run lint` runs it.
process.env['CDK_VALIDATION'] = 'false';

export default defineConfig({
  test: {
    globalSetup: 'test/workplace.ts',
    include: ['test/**/*.test.ts'],
    // A synthesis takes some seconds, and a minute where much else runs.
    testTimeout: 600_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000,
    // Loading CDK takes longer than most of the tests, so the files share it.
    isolate: false,
    maxWorkers: 2,
  },
});
