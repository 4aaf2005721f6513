import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { patienceMs } from './test/support/patience.js';

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
  maxWorkers: availableParallelism() + 2,
  expect: { poll: { timeout: patienceMs } },
  setupFiles: ['test/support/seeded-properties.ts'],
  // The command is called as it was built.
  server: { deps: { external: [/\/(?:dist|compiled)\//] } },
};

// What a file's name says: it needs more than Node and npm, it needs its process for itself, it takes long.
const [servers, aloneHere, aloneWithServers, nightly] = ['servers', 'alone', 'alone.servers', 'nightly'].map(
  (kind) => `test/**/*.${kind}.test.ts`,
) as [string, string, string, string];
const globalSetup = ['test/support/announce-servers.ts'];
/** Tests with servers wait more, which pays for workers that each import everything once more. */
const withServers = { globalSetup, maxWorkers: availableParallelism() + 4, sequence: { groupOrder: 1 } };

const projects = [
  // Without isolation: one process after another would start for each file otherwise.
  {
    ...common,
    name: 'node',
    isolate: false,
    include: ['test/**/*.test.ts'],
    exclude: [servers, aloneHere, nightly],
  },
  { ...common, name: 'node: alone', include: [aloneHere] },
  {
    ...{ ...common, ...withServers, name: 'servers', isolate: false },
    ...{ include: [servers], exclude: [aloneWithServers] },
  },
  { ...common, ...withServers, name: 'servers: alone', include: [aloneWithServers] },
  { ...common, name: 'nightly', testTimeout: 600_000, globalSetup, include: [nightly] },
];

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    reporters: ['default', './test/support/reporter.ts'],
    slowTestThreshold: 10_000,
    projects: projects.map((test) => ({ test })),
  },
});
