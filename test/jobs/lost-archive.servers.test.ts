import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { archiveOf } from '../support/archived-run.js';
import { type DayFolder, day, prepareDay, type Settings } from '../support/day-folder.js';
import { expectReport } from '../support/expectations.js';
import { prepareFileDay } from '../support/file-day.js';
import { success } from '../support/http-stand-in.js';
import { csvOf, makeBookings, toCsv } from '../support/made-bookings.js';
import { openSsh } from '../support/sftp-programs.js';
import { usePostgres, useSftpServer } from '../support/use-servers.js';

const server = useSftpServer(openSsh);
const postgres = usePostgres();
const canary = 'Cañária Quetzal';
const bookings = makeBookings(6).map((booking) =>
  booking.BookingReferenceId === 'BR-2' ? { ...booking, BookingClientName: canary } : booking,
);
const later = '2026-11-21';

/** A day by file is in the archive, whose ledger is gone; a later one was sent by body with a new ledger, which adopted the archive. */
async function prepare(settings: Settings = {}) {
  const { folder } = await prepareFileDay(server(), {
    bookings: toCsv(bookings),
    settings: { hashKey: 'a key of the tests', ...settings },
    async onCall(call) {
      await call.writeResult({ affected: ['BR-2'] });
      return success;
    },
  });
  const result = await folder.runDay();
  expectReport(result, { exitCode: 0, state: 'succeeded' });
  const archive = archiveOf(result);
  await folder.writeBookings(csvOf(20), later);
  await removeLedger(folder);
  return { folder, archive };
}

async function adopt(folder: DayFolder): Promise<void> {
  const { exitCode } = await folder.run(['run', later, '--delivery', 'body', '--unknown-archive']);
  expect(exitCode).toBe(0);
}

async function removeLedger({ ledgerFile }: DayFolder): Promise<void> {
  for (const end of ['', '-wal', '-shm']) await rm(`${ledgerFile}${end}`, { force: true });
}

const unknown = (path: string) => [
  { day, folder: path, files: ['20112026.csv', '20112026_Result.csv'], runId: expect.any(String) },
];

it('what no ledger knows any more is named by status, doctor, privacy and verify', async () => {
  const { folder, archive } = await prepare();
  const nobody = join(folder.path, 'data', 'archive', day, 'unmarked');
  const theirs = join(folder.path, 'data', 'archive', day, 'of-others');
  for (const path of [nobody, theirs]) {
    await mkdir(path);
    await writeFile(join(path, '20112026.csv'), `x,BR-2,${canary}\n`);
  }
  await writeFile(join(theirs, '.account-0123456789abcdef'), '');
  const purged = await folder.run(['guest', 'purge', '--json']);
  expect(purged).toMatchObject({ exitCode: 1, json: { left: [{ day, place: 'archive' }] } });
  const erased = await folder.run(['guest', 'erase', 'BR-2', '--reason', 'x', '--json']);
  expect(erased).toMatchObject({ exitCode: 1, json: { left: [{ day, place: 'archive' }] } });
  await adopt(folder);
  expect((await folder.run(['status', '--json'])).json).toMatchObject({
    unknownFolders: unknown(archive.path),
  });
  expect((await folder.run(['privacy', '--json'])).json).toMatchObject({
    unknownFolders: unknown(archive.path),
    places: expect.arrayContaining([expect.objectContaining({ place: 'archive', count: 2, since: day })]),
  });
  expect(await folder.run(['verify', day, '--json'])).toMatchObject({
    exitCode: 1,
    json: { unknownFolders: unknown(archive.path) },
  });
  const { findings } = (await folder.run(['doctor', later, '--json'])).json as {
    findings: readonly { part: string; verdict: string; message: string }[];
  };
  const warned = findings.filter(({ part, verdict }) => part === 'archive' && verdict === 'warning');
  expect(warned.map(({ message }) => message)).toEqual([
    expect.stringContaining(archive.path),
    expect.stringContaining(nobody),
  ]);
  expect(JSON.stringify(findings)).not.toContain(theirs);
});

it('guest erase removes its files, and guest purge what is due; what may not be ours stays, and is named', async () => {
  const { folder, archive } = await prepare();
  const nobody = join(folder.path, 'data', 'archive', day, 'unmarked');
  await mkdir(nobody);
  await writeFile(join(nobody, '20112026.csv'), `x,BR-2,${canary}\n`);
  await adopt(folder);
  const erased = await folder.run(['guest', 'erase', 'BR-2', '--reason', 'x', '--json']);
  const why = expect.stringContaining(`${nobody} holds the guest`);
  expect(erased).toMatchObject({ exitCode: 1, json: { left: [{ day, place: 'archive', why }] } });
  expect(archive.names()).toEqual(['manifest.json']);

  await folder.configure({ guestNameDays: 1 });
  const purged = await folder.run(['guest', 'purge', '--json']);
  expect(purged).toMatchObject({ exitCode: 0, json: { left: [] } });
  expect(archive.names()).toEqual(['manifest.json']);
  expect(await readFile(join(nobody, '20112026.csv'), 'utf8')).toContain(canary);
  expect((await folder.run(['status', '--json'])).json).not.toHaveProperty('unknownFolders');
});

it('guest erase leaves what it cannot read, and says so', async () => {
  const { folder } = await prepare({ keys: './keys' });
  await rename(join(folder.path, 'keys'), join(folder.path, 'lost-keys'));
  await folder.configure({ keys: './other-keys' });
  await adopt(folder);
  const { exitCode, json } = await folder.run(['guest', 'erase', 'BR-2', '--reason', 'x', '--json']);
  expect(exitCode).toBe(1);
  const left = { day, place: 'archive', why: expect.stringMatching(/cannot be read/) };
  expect(json).toMatchObject({ left: [left, left] });
});

it('a run by file that cannot ask the archive fails with 1', async () => {
  const { folder } = await prepare();
  await adopt(folder);
  await folder.configure({ archive: './data/file' });
  await writeFile(join(folder.path, 'data', 'file'), 'no folder');
  const { exitCode, json } = await folder.run(['run', later, '--json']);
  expect(exitCode).toBe(1);
  const message = expect.stringContaining('does not say which ledger');
  expect(json).toMatchObject({ error: { class: 'retryable', message } });
});

it('a ledger in another PostgreSQL database, or in none, is refused until a person adopts it', async () => {
  const [first, second] = [await postgres().createDatabase(), await postgres().createDatabase()];
  const { folder, standIn } = await prepareDay({ settings: { ledger: first }, hasWorkers: false });
  for (const each of [day, later]) await folder.writeBookings(csvOf(20), each);
  expect((await folder.run(['run', day])).exitCode).toBe(0);
  await folder.configure({ ledger: second });
  const sent = standIn.requests.length;
  const refused = await folder.run(['run', later, '--json']);
  expect(refused).toMatchObject({ exitCode: 2, json: { error: { class: 'configuration' } } });
  expect(JSON.stringify(refused.json)).toMatch(/got: none; nothing is reviewed/);
  expect((await folder.run(['status', '--json'])).json).toMatchObject({ runs: [] });
  expect(standIn.requests.length).toBe(sent);
  expect((await folder.run(['run', later, '--unknown-archive'])).exitCode).toBe(0);
  await folder.configure({ ledger: first });
  const other = await folder.run(['run', later, '--json']);
  expect(other).toMatchObject({ exitCode: 2 });
  expect(JSON.stringify(other.json)).toMatch(/got: another one/);
  expect(await readdir(join(folder.path, 'data'))).toEqual(['archive']);
});

it('a PostgreSQL database that was restored from before a run is refused', async () => {
  const url = await postgres().createDatabase();
  const { folder } = await prepareDay({ settings: { ledger: url }, hasWorkers: false });
  for (const each of [day, later]) await folder.writeBookings(csvOf(20), each);
  expect((await folder.run(['run', day])).exitCode).toBe(0);
  await postgres().query(url, 'UPDATE hotel_review.ledger_identity SET changes = changes - 1');
  const refused = await folder.run(['run', later, '--json']);
  expect(refused.exitCode).toBe(2);
  expect(JSON.stringify(refused.json)).toMatch(/got: an older copy of it/);
});

it('guest purge says that it could not look for files of unknown runs', async () => {
  const { folder } = await prepareDay({ hasWorkers: false });
  await folder.writeBookings(toCsv(bookings));
  expect((await folder.runDay()).exitCode).toBe(0);
  // Nothing of its own is due.
  await folder.configure({ archive: './data/file', guestNameDays: 3_000, recordDays: 3_000 });
  await writeFile(join(folder.path, 'data', 'file'), 'no folder');
  const purged = await folder.run(['guest', 'purge', '--json']);
  expect(purged).toMatchObject({
    exitCode: 1,
    json: { runs: [], left: [{ runId: null, place: 'archive' }] },
  });
});
