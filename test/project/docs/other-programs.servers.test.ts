import { spawnSync } from 'node:child_process';
import { copyFile, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { day } from '../../support/day-folder.js';
import { postgresNeeds, startPostgres } from '../../support/postgres.js';
import { startProgram } from '../../support/program.js';
import { createFolder, makeDayIn, runIn, startSandboxCommand } from '../../support/sandbox-command.js';
import { readBlocks } from './pages.js';

/** The lines of a page for a shell that begin with one of these words, as they are written. */
function linesOf(page: string, ...starts: readonly string[]): string {
  return readBlocks(page)
    .filter(({ language }) => language === 'sh')
    .flatMap((block) => block.text.replaceAll(/\\\n/g, ' ').split('\n'))
    .filter((line) => starts.some((start) => line.startsWith(start)))
    .join('\n');
}

const programs = ['sqlite3', 'pg_dump', 'curl', 'ssh-keyscan'];
const missing = programs.filter((name) => spawnSync(name, ['--version']).error !== undefined);
const needs = postgresNeeds ?? (missing.length > 0 ? `needs ${missing.join(', ')}` : undefined);

it('The calls of other programs in the pages work: ledgers are copied and restored, the sandbox answers, its host key is shown', async ({
  skip,
}) => {
  skip(needs !== undefined, needs);
  const folder = await createFolder();
  const { addresses } = await startSandboxCommand(join(folder, 'sandbox'), '--result-delay', '0');
  await makeDayIn(folder, '--count', '100');
  const usual = await readFile(addresses.configuration, 'utf8');
  await writeFile(join(folder, 'hotel-review.yaml'), usual);
  const shell = async (script: string, env: Readonly<Record<string, string>> = {}) => {
    const options = { cwd: folder, env: { PATH: `${process.env.PATH}`, ...env } };
    const { exitCode, stdout, stderr } = await startProgram('bash', ['-euc', script], options).ended;
    expect(exitCode, stderr).toBe(0);
    return stdout;
  };
  const readRuns = async () => ((await runIn(folder, 'status', '--json')).json as { runs: object[] }).runs;

  expect((await runIn(folder, 'run', day)).exitCode).toBe(0);
  const [backup = ''] = linesOf('docs/first-week.md', 'hotel-review backup').split(/ {2,}#/);
  expect((await runIn(folder, ...backup.split(' ').slice(1))).exitCode).toBe(0);
  expect(await shell(linesOf('docs/first-week.md', 'sqlite3'))).toBe('ok\n');
  const runs = await readRuns();
  expect(runs).toHaveLength(1);
  for (const end of ['', '-wal', '-shm']) await rm(join(folder, `data/ledger.db${end}`), { force: true });
  await copyFile(join(folder, 'ledger-2026-11-21.db'), join(folder, 'data/ledger.db'));
  expect(await readRuns()).toEqual(runs);

  const postgres = await startPostgres();
  onTestFinished(() => postgres.remove());
  const ledger = await postgres.createDatabase();
  const other = `${usual}ledger: ${ledger}\narchive: ./data/other-archive\n`;
  await writeFile(join(folder, 'hotel-review.yaml'), other);
  expect((await runIn(folder, 'run', day)).exitCode).toBe(0);
  const held = await readRuns();
  const env = { HOTEL_REVIEW_LEDGER: ledger };
  await shell(linesOf('docs/first-week.md', 'umask', 'pg_dump'), env);
  const [drop = '', restore = ''] = linesOf('docs/runbook.md', 'psql', 'pg_restore').split('\n');
  await shell(drop, env);
  expect(await readRuns()).toEqual([]);
  await shell(restore, env);
  expect(await readRuns()).toEqual(held);

  const answers = await shell(linesOf('docs/service.md', 'curl -i '), {
    BASE_URL: addresses.service.baseUrl,
  });
  expect(answers.match(/HTTP\/1\.1 200/g)).toHaveLength(3);
  expect(answers.match(/"StatusCode":2000/g)).toHaveLength(3);
  const { host, port, fingerprint } = addresses.sftp;
  const keyscan = linesOf('docs/file-delivery.md', 'ssh-keyscan');
  expect(await shell(keyscan.replace('sftp.example.com', `-p ${port} ${host}`))).toContain(
    ` ${fingerprint} `,
  );
});
