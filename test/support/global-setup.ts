import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromiumNeeds } from './chromium.js';
import { dovecotNeeds } from './dovecot.js';
import { fakeTimeNeeds } from './machine.js';
import { mariadbNeeds } from './mariadb.js';
import { postgresNeeds } from './postgres.js';
import { redisNeeds } from './redis.js';
import { seed, usualSeed } from './seed.js';
import { openSsh, proFtpd } from './sftp-programs.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What the tests need besides Node; the value is what is missing. */
const servers: Readonly<Record<string, string | undefined>> = {
  PostgreSQL: postgresNeeds,
  Redis: redisNeeds,
  MariaDB: mariadbNeeds,
  Dovecot: dovecotNeeds,
  OpenSSH: openSsh.needs,
  ProFTPD: proFtpd.needs,
  faketime: fakeTimeNeeds,
  Chromium: chromiumNeeds,
};

/** On two cores. More cores are faster, but much of the time is spent waiting for time limits to pass. */
const minutesOnTwoCores = 12;

/**
 * Announces the suite, and builds the command: tests call it in-process and start the built one. Tests that use single modules in
 * another process find them compiled.
 */
export default function setUp(): void {
  const missing = Object.values(servers).filter((needs) => needs !== undefined);
  const found = Object.keys(servers).filter((name) => servers[name] === undefined);
  const minutes = Math.ceil(minutesOnTwoCores * Math.max(0.5, 2 / availableParallelism()));
  console.log(
    `The whole suite takes about ${minutes} minutes here; a file or a folder: npm test -- test/booking`,
  );
  console.log(`Servers found: ${found.length > 0 ? found.join(', ') : 'none'}`);
  for (const needs of missing) console.log(`MISSING: what ${needs} would add is skipped`);
  // The processes of the tests get it with all other variables.
  process.env.SEED = String(seed);
  if (seed !== usualSeed) console.log(`Generated cases are made from SEED=${seed}`);
  if (!isUpToDate('dist/jobs/main.js')) run('npm', ['run', '--silent', 'build']);
  if (isUpToDate('compiled/jobs/main.js')) return;
  rmSync(join(root, 'compiled'), { recursive: true, force: true });
  run('npx', ['tsc', '-p', 'test/support/tsconfig.json']);
}

function run(program: string, args: readonly string[]): void {
  execFileSync(program, args, { cwd: root, stdio: 'inherit' });
}

/** Whether nothing has changed since that was built; deleting a file changes its folder's time. */
function isUpToDate(output: string): boolean {
  const built = join(root, output);
  if (!existsSync(built)) return false;
  const since = statSync(built).mtimeMs;
  const sources = ['src', 'jobs'].flatMap((folder) => [
    folder,
    ...readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
      join(folder, name),
    ),
  ]);
  const settings = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'bundle.js'];
  return [...sources, ...settings].every((name) => statSync(join(root, name)).mtimeMs < since);
}
