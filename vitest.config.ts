import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** For both engines. */
const common = {
  // Words that name the command shall not depend on how the tests were started.
  env: { npm_command: '' },
  testTimeout: 60_000,
  hookTimeout: 60_000,
  pool: 'forks' as const,
  // Servers and processes are real: where nobody watches, what a busy machine was too slow for is tried once more, and
  // the report says so. A fault that is there each time still fails.
  retry: process.env.CI ? 1 : 0,
};

/** Tests of the main job, which run once more where processes share the work. */
const ofBothEngines = [
  'bad-input',
  'days',
  'faults',
  'file-calls',
  'file-days',
  'file-faults',
  'file-frozen-owner',
  'file-kill',
  'file-kill-at-random',
  'file-local-faults',
  'file-results',
  'file-server-faults',
  'file-stop',
  'frozen-owner',
  'kill',
  'kill-at-random',
  'naughty-bookings',
  'ndjson',
  'replay-range',
  'stop-signals',
  'stopping',
  'suspects',
];

export default defineConfig({
  test: {
    globalSetup: ['test/support/build.ts'],
    reporters: ['default', './test/support/skip-reporter.ts'],
    // Most tests wait, for commands and servers that they started.
    maxWorkers: availableParallelism() + 2,
    projects: [
      {
        test: {
          ...common,
          name: 'embedded',
          include: ['test/**/*.test.ts'],
          provide: { engine: 'embedded' },
        },
      },
      {
        test: {
          ...common,
          name: 'distributed',
          // Three processes where there is one otherwise, and leases that run out.
          testTimeout: 120_000,
          include: ofBothEngines.map((name) => `test/jobs/${name}.test.ts`),
          provide: { engine: 'distributed' },
          globalSetup: ['test/support/distributed-servers.ts'],
          setupFiles: ['test/support/needs-servers.ts'],
        },
      },
    ],
  },
});
