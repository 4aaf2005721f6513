import { cp, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { archiveOf } from '../support/archived-run.js';
import { type DayFolder, day, type Settings } from '../support/day-folder.js';
import { expectError, expectReport } from '../support/expectations.js';
import { prepareFileDay, remotePath } from '../support/file-day.js';
import { success } from '../support/http-stand-in.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { bucketName, useS3Server, writeVariables } from '../support/s3-server.js';
import { openSsh } from '../support/sftp-programs.js';
import { useSftpServer } from '../support/use-servers.js';

const server = useSftpServer(openSsh);
const buckets = useS3Server();
const canary = 'Cañária Quetzal';
const bookings = makeBookings(6).map((booking) =>
  booking.BookingReferenceId === 'BR-2' ? { ...booking, BookingClientName: canary } : booking,
);
/** One without a hotel goes by body, and one that names the guest in place of its id is rejected. */
const csv = [
  toCsv([...bookings, ...makeBookings(1, { first: 9 })]).replace('009A', ''),
  `${canary},BR-8,x,Hotelbeds,1,2026-12-01,2026-12-02\n`,
].join('');
const names = ['20112026.csv', '20112026_Result.csv', 'manifest.json'];

function prepare(settings: Settings = {}) {
  return prepareFileDay(server(), {
    bookings: csv,
    settings: { keys: './keys', hashKey: 'a key of the tests', maxRejectedShare: 0.5, ...settings },
    onPost: () => ({ kind: 'json', status: 400, body: { Status: false, StatusCode: 2009, Message: canary } }),
    async onCall(call) {
      await call.writeResult({ affected: ['BR-2'] });
      return success;
    },
  });
}

/** The files under a folder whose bytes contain the name. */
async function findName(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  const contents = await Promise.all(paths.map((path) => readFile(path)));
  return paths.filter((_, index) => contents[index]?.includes(canary));
}

async function verdictOf(folder: DayFolder): Promise<unknown> {
  const { json } = await folder.run(['show', 'BR-2', '--json']);
  return (json as { bookings: readonly { verdict: string }[] }).bookings[0]?.verdict;
}

afterEach(() => vi.useRealTimers());

it('a night with keys holds no name in any byte, sends the file as it is, and is unreadable once its key is destroyed', async () => {
  const { folder, server: sftp } = await prepare();
  // As a process: in this one, a garbage collection would let SQLite remove its log while the folder is copied.
  const result = await folder.runDay({ asProcess: true });
  expectReport(result, {
    exitCode: 0,
    state: 'succeeded',
    counts: { delivered: 6, refused: 1, rejected: 1, affected: 1 },
  });
  expect(await findName(folder.path)).toEqual([folder.bookingsFile]);
  expect(await readFile(sftp.disk(remotePath), 'utf8')).toContain(`BR-2,${canary},Hotelbeds`);
  expect(archiveOf(result).names()).toEqual(names);
  const key = join(folder.path, 'keys', `${day}.key`);
  expect((await stat(key)).mode & 0o777).toBe(0o600);
  expect((await folder.run(['verify', day])).exitCode).toBe(0);
  expect(await verdictOf(folder)).toBe('incorrect');

  await cp(join(folder.path, 'data'), join(folder.path, 'backup'), { recursive: true });
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 40 * 86_400_000 });
  expect(await folder.run(['guest', 'purge', '--json'])).toMatchObject({ exitCode: 0, json: { left: [] } });
  await expect(stat(key)).rejects.toThrow('ENOENT');
  expect(await verdictOf(folder)).toBe('incorrect');
  expect((await folder.run(['verify', day])).exitCode).toBe(0);

  await folder.configure({ ledger: 'sqlite:./backup/ledger.db', archive: './backup/archive' });
  expectError(await folder.run(['show', 'BR-2', '--json']), {
    exitCode: 1,
    class: 'internal',
    message: /of 2026-11-20 was destroyed after guestNameDays/,
  });
  // The restored ledger doesn't know that its names are gone.
  expect(await folder.run(['guest', 'purge', '--json'])).toMatchObject({ exitCode: 0, json: { left: [] } });
});

it('an encrypted archive in a bucket holds no name, is verified and exported, and a guest is erased from it', async () => {
  const { folder } = await prepare({ archive: `s3://${bucketName}/sealed` });
  writeVariables(folder.path, buckets().access());
  const result = await folder.runDay();
  expectReport(result, { exitCode: 0, state: 'succeeded', counts: { affected: 1 } });
  const keys = names.map((name) => `sealed/${day}/${result.report.runId}/${name}`);
  expect(await buckets().keys()).toEqual(
    expect.arrayContaining([...keys, `sealed/reports/${day}/${result.report.runId}-succeeded.html`]),
  );
  for (const key of await buckets().keys()) expect((await buckets().read(key)).includes(canary)).toBe(false);
  expect((await folder.run(['verify', day])).exitCode).toBe(0);
  expect((await folder.run(['guest', 'export', 'BR-2', '--json'])).json).toMatchObject({
    bookings: [{ booking: { BookingClientName: canary } }],
    files: [{ name: '20112026.csv' }, { name: '20112026_Result.csv' }],
  });

  const erased = await folder.run(['guest', 'erase', 'BR-2', '--reason', 'x', '--json']);
  expect(erased).toMatchObject({ exitCode: 0, json: { left: [] } });
  expect((await folder.run(['show', '--name', canary, '--json'])).json).toMatchObject({ bookings: [] });
  expect((await folder.run(['verify', day])).exitCode).toBe(0);
  expect(await findName(folder.path)).toEqual([folder.bookingsFile]);
});
