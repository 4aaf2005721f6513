import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Libsql from 'libsql';
import { expect, it, vi } from 'vitest';
import { createDayFolder, type DayFolder, day } from '../support/day-folder.js';
import { expectReport } from '../support/expectations.js';
import { patienceMs } from '../support/patience.js';

/** Counts for ever, and returns no row. */
const endless = `WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c)
  SELECT n AS ServiceId FROM c WHERE n < 0 AND :day IS NOT NULL`;
const atLimit =
  /the\s+query\s+took\s+longer\s+than\s+source\.timeoutSeconds\s+\(0\.5\s+s\)\s+and\s+was\s+stopped/;

/** A day whose bookings are a query of a SQLite file; nothing may be sent. */
async function prepareDay({ timeoutSeconds = 0.5, query = endless }): Promise<DayFolder> {
  const source = { kind: 'sql', path: undefined, url: 'sqlite:b.db', query, timeoutSeconds };
  const folder = await createDayFolder({
    baseUrl: 'http://127.0.0.1:9/api/3.0',
    settings: { source },
    hasWorkers: false,
  });
  const database = new Libsql(join(folder.path, 'b.db'));
  database.exec('CREATE TABLE bookings (ServiceId)');
  database.close();
  return folder;
}

/** The processes that read a SQLite file for that process. */
function readersOf(pid: number): number[] {
  return readdirSync('/proc').flatMap((name) => {
    const child = Number(name);
    return Number.isInteger(child) && parentOf(child) === pid ? [child] : [];
  });
}

/** From /proc; undefined for a process that has ended. */
function parentOf(pid: number): number | undefined {
  try {
    const [state, parent] = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? [];
    return state === 'Z' ? undefined : Number(parent);
  } catch {
    return undefined;
  }
}

it('ends a run at its time limit', async () => {
  const folder = await prepareDay({});
  const result = await folder.runDay();
  expectReport(result, { exitCode: 1, state: 'failed', counts: { read: 0 } });
  expect(result.report.error).toMatchObject({ class: 'data', message: expect.stringMatching(atLimit) });
});

it.each([
  ['run --dry-run', 1, ['run', '--dry-run', '--day', day]],
  ['doctor', 2, ['doctor', '--day', day]],
] as const)('ends %s at its time limit', async (_, code, args) => {
  const folder = await prepareDay({});
  const { exitCode, stdout, stderr } = await folder.run(args);
  expect(exitCode).toBe(code);
  expect(stdout + stderr).toMatch(atLimit);
});

it.each([
  ['run', ['run', '--day', day]],
  ['run --dry-run', ['run', '--dry-run', '--day', day]],
  ['doctor', ['doctor', '--day', day]],
  [
    'the try-out of init',
    ['init', '--config', 'new.yaml', '--yes', '--kind', 'sql', '--url', 'sqlite:b.db', '--query', endless],
  ],
])('is stopped with %s by SIGTERM, which leaves no process behind', async (_, args) => {
  const folder = await prepareDay({ timeoutSeconds: 3_600 });
  const command = folder.start(args);
  await vi.waitUntil(() => readersOf(command.pid).length === 1, { timeout: patienceMs });
  const readers = readersOf(command.pid);
  command.kill('SIGTERM');
  expect(await command.ended).toMatchObject({ exitCode: 1, signal: null });
  expect(readers.map(parentOf)).toEqual([undefined]);
});

it('ends with the command even if that is killed', async () => {
  const folder = await prepareDay({ timeoutSeconds: 3_600 });
  const command = folder.start(['run', '--dry-run', '--day', day]);
  await vi.waitUntil(() => readersOf(command.pid).length === 1, { timeout: patienceMs });
  const [reader = 0] = readersOf(command.pid);
  command.kill('SIGKILL');
  await command.ended;
  await vi.waitUntil(() => parentOf(reader) === undefined, { timeout: patienceMs });
});
