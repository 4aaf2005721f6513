import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/build.ts'],
    reporters: ['default', './test/support/skip-reporter.ts'],
    // Words that name the command shall not depend on how the tests were started.
    env: { npm_command: '' },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    // Most tests wait, for commands and servers that they started.
    maxWorkers: availableParallelism() + 2,
  },
});
