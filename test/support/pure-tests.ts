import { readdirSync, readFileSync } from 'node:fs';

/** A file that reaches beyond its own process: it starts programs, servers or commands, or measures what it uses itself. */
const reachesOut =
  /child_process|worker_threads|process\.(?:on|exit|kill|memoryUsage)|\/dist\/|\/(?:jobs|crash|faces|many-machines|library|docs)\/|support\/(?!fake-ledger|made-bookings|sampled|business-day|rendered-line|gate|command-io|patience|filled-copy|mapping-|nightly|seed)/;

/** All tests of the daily suite. */
export const testFiles: readonly string[] = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .map((name) => `test/${name}`)
  .filter((name) => name.endsWith('.test.ts') && !name.endsWith('.nightly.test.ts'));

/** Those that neither start anything nor need a build. */
export const pureTests: readonly string[] = testFiles.filter(
  (name) => !reachesOut.test(`${name}\n${readFileSync(name, 'utf8')}`),
);
