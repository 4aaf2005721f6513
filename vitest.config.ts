import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { patienceMs } from './test/support/patience.js';
import { nightlyTests, ownProcessTests, serverTests } from './test/support/test-files.js';

const isNightly = process.env.HOTEL_REVIEW_TESTS === 'nightly';

const common = {
  env: {
    // Words that name the command must not depend on how the tests were started.
    npm_command: '',
    // The SDK of Amazon reads the process's own variables.
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    AWS_EC2_METADATA_DISABLED: 'true',
  },
  // A test may wait in vain once, and then says for what.
  testTimeout: patienceMs + 60_000,
  hookTimeout: patienceMs + 60_000,
  pool: 'forks' as const,
  expect: { poll: { timeout: patienceMs } },
  setupFiles: ['test/support/seeded-properties.ts'],
  // The command is called as it was built.
  server: { deps: { external: [/\/(?:dist|compiled)\//] } },
  provide: { engine: 'embedded' as const },
};

/** Tests that have more cases in the nightly suite. */
const alsoNightly = [
  'test/desk/browser/*.test.ts',
  'test/ledger/mapping-copy-processes.test.ts',
  'test/ledger/{postgres.servers,sqlite,sqlite-encrypted}.test.ts',
  'test/library/bookings-module.test.ts',
  'test/queue/bullmq-shared.servers.test.ts',
  'test/sandbox/bookings-dry-run.test.ts',
  'test/schedule/review-scheduler-year.test.ts',
  'test/sources/files/{s3,sftp}-contract{,.servers}.test.ts',
  'test/sources/sql/{mariadb,postgres}{,-contract}.servers.test.ts',
];

/** Tests of whole days that run once more where several processes share the work, and where that makes a difference. */
const shared = ['file-kill', 'file-night'];
const ofDays = (names: readonly string[]) => names.map((name) => `test/jobs/${name}{,.servers}.test.ts`);

const distributed = {
  ...common,
  name: 'servers: distributed',
  // Several processes where there is one otherwise, and leases that run out.
  testTimeout: patienceMs + 180_000,
  provide: { engine: 'distributed' as const },
  globalSetup: ['test/support/distributed-servers.ts'],
  setupFiles: [...common.setupFiles, 'test/support/needs-servers.ts'],
};

const announced = ['test/support/announce-servers.ts'];

const projects = isNightly
  ? [
      {
        ...common,
        name: 'nightly',
        testTimeout: 600_000,
        globalSetup: announced,
        include: [nightlyTests, ...alsoNightly],
      },
      {
        ...distributed,
        name: 'distributed nightly',
        testTimeout: 600_000,
        include: ofDays(shared),
      },
    ]
  : [
      // Without isolation: one process after another would start for each file otherwise.
      {
        ...common,
        name: 'node',
        isolate: false,
        include: ['test/**/*.test.ts'],
        exclude: [nightlyTests, serverTests, ...ownProcessTests],
      },
      { ...common, name: 'node: own process', include: ownProcessTests, exclude: [serverTests] },
      {
        ...common,
        name: 'servers',
        isolate: false,
        globalSetup: announced,
        include: [serverTests],
        exclude: ownProcessTests,
      },
      {
        ...common,
        name: 'servers: own process',
        include: ownProcessTests.filter((name) => name.endsWith('.servers.test.ts')),
      },
      { ...distributed, include: ofDays(shared) },
    ];

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    reporters: ['default', './test/support/reporter.ts'],
    // Most tests wait, for commands and servers that they started.
    maxWorkers: availableParallelism() + 3,
    slowTestThreshold: 10_000,
    projects: projects.map((test) => ({ test })),
  },
});
