import { execFile, spawnSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { postgresNeeds, startPostgres } from '../support/postgres.js';
import { type Night, prepareNight } from './night.js';
import { readBlocks } from './pages.js';

const run = promisify(execFile);

/** The lines of a page for a shell that begin with one of these words, as they are written. */
function linesOf(page: string, ...starts: readonly string[]): string {
  const text = readBlocks(page)
    .filter(({ language }) => language === 'sh')
    .map((block) => block.text.replaceAll(/\\\n/g, ' '))
    .join('');
  return text
    .split('\n')
    .filter((line) => starts.some((start) => line.startsWith(start)))
    .join('\n');
}

/** What is missing here to run a program. */
const needs = (program: string, ...args: readonly string[]) =>
  spawnSync(program, args, { stdio: 'ignore' }).error === undefined ? undefined : `needs ${program}`;

describe('Other programs in the pages', () => {
  let night: Night;
  beforeAll(async () => {
    night = await prepareNight();
    expect(await night.run(['run', '2026-11-20'])).toMatchObject({ exitCode: 0 });
  });
  afterAll(() => night?.remove());

  const shell = async (script: string, env: Readonly<Record<string, string>> = {}) => {
    const options = { cwd: night.folder, env: { PATH: `${process.env.PATH}`, ...env } };
    return (await run('bash', ['-euc', script], options)).stdout;
  };
  const runsOf = async (...options: readonly string[]) => {
    const { text } = await night.run(['status', '--json', ...options]);
    return JSON.parse(text).runs;
  };

  it('copy an SQLite ledger while it is in use', async ({ skip }) => {
    const missing = needs('sqlite3', '--version');
    skip(missing !== undefined, missing);
    expect(await shell(linesOf('docs/first-week.md', 'umask', 'sqlite3'))).toBe('ok\n');
    const runs = await runsOf();
    expect(runs).toHaveLength(1);
    for (const end of ['', '-wal', '-shm'])
      await rm(join(night.folder, `data/ledger.db${end}`), { force: true });
    await shell('mv ledger-2026-11-21.db data/ledger.db');
    expect(await runsOf()).toEqual(runs);
  });

  it('copy and restore a PostgreSQL ledger', async ({ skip }) => {
    const missing = postgresNeeds ?? needs('pg_dump', '--version');
    skip(missing !== undefined, missing);
    const postgres = await startPostgres();
    onTestFinished(() => postgres.remove());
    const ledger = await postgres.createDatabase();
    await night.configure('postgres.yaml', { ledger, archive: './data/other-archive' });
    const own = ['--config', 'postgres.yaml'];
    expect(await night.run(['run', '2026-11-20', ...own])).toMatchObject({ exitCode: 0 });
    const runs = await runsOf(...own);
    expect(runs).toHaveLength(1);

    const env = { HOTEL_REVIEW_LEDGER: ledger };
    await shell(linesOf('docs/first-week.md', 'umask', 'pg_dump'), env);
    const [drop = '', restore = ''] = linesOf('docs/runbook.md', 'psql', 'pg_restore').split('\n');
    await shell(drop, env);
    expect((await night.run(['status', '--json', ...own])).text).toContain('"runs":[]');
    await shell(restore, env);
    expect(await runsOf(...own)).toEqual(runs);
  });

  it('call the sandbox with curl', async ({ skip }) => {
    const missing = needs('curl', '--version');
    skip(missing !== undefined, missing);
    const answers = await shell(linesOf('docs/service.md', 'curl'), {
      BASE_URL: night.sandbox.service.baseUrl,
    });
    expect(answers.match(/HTTP\/1\.1 200/g)).toHaveLength(3);
    expect(answers.match(/"StatusCode":2000/g)).toHaveLength(3);
  });

  it('show the host key of an SFTP server', async ({ skip }) => {
    const missing = needs('ssh-keyscan') ?? needs('ssh-keygen', '-?');
    skip(missing !== undefined, missing);
    const { host, port, fingerprint } = night.sandbox.sftp;
    const line = linesOf('docs/file-delivery.md', 'ssh-keyscan');
    const shown = await shell(line.replace('sftp.example.com', `-p ${port} ${host}`));
    expect(shown).toContain(` ${fingerprint} `);
  });
});
