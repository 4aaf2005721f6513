import { cp, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { archiveOf } from '../support/archived-run.js';
import { day } from '../support/day-folder.js';
import { expectError, expectReport } from '../support/expectations.js';
import { prepareFileDay, remotePath } from '../support/file-day.js';
import { findText } from '../support/found-text.js';
import { success } from '../support/http-stand-in.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { sandboxSftp } from '../support/sandbox-sftp.js';
import { useSftpServer } from '../support/use-servers.js';

const server = useSftpServer(sandboxSftp);
const canary = 'Cañária Quetzal';
const bookings = makeBookings(6).map((booking) =>
  booking.BookingReferenceId === 'BR-2' ? { ...booking, BookingClientName: canary } : booking,
);
/** One without a hotel goes by body, and one that names the guest in place of its id is rejected. */
const csv = [
  toCsv([...bookings, ...makeBookings(1, { first: 9 })]).replace('009A', ''),
  `${canary},BR-8,x,Hotelbeds,1,2026-12-01,2026-12-02\n`,
].join('');

afterEach(() => vi.useRealTimers());

it('a night with keys holds no name in any byte, sends the file as it is, and is unreadable once its key is destroyed', async () => {
  const { folder, server: sftp } = await prepareFileDay(server(), {
    bookings: csv,
    settings: { keys: './keys', hashKey: 'a key of the tests', maxRejectedShare: 0.5 },
    onPost: () => ({ kind: 'json', status: 400, body: { Status: false, StatusCode: 2009, Message: canary } }),
    async onCall(call) {
      await call.writeResult({ affected: ['BR-2'] });
      return success;
    },
  });
  const readVerdict = async () => {
    const { json } = await folder.run(['show', 'BR-2', '--json']);
    return (json as { bookings: readonly { verdict: string }[] }).bookings[0]?.verdict;
  };
  // As a process, and copied before this one opens the ledger: its garbage collection lets SQLite remove its log.
  const result = await folder.runDay({ asProcess: true });
  await cp(join(folder.path, 'data'), join(folder.path, 'backup'), { recursive: true });
  const counts = { delivered: 6, refused: 1, rejected: 1, affected: 1 };
  expectReport(result, { exitCode: 0, state: 'succeeded', counts });
  expect(findText(folder.path, canary)).toEqual([folder.bookingsFile]);
  expect(await readFile(sftp.disk(remotePath), 'utf8')).toContain(`BR-2,${canary},Hotelbeds`);
  expect(archiveOf(result).names()).toEqual(['20112026.csv', '20112026_Result.csv', 'manifest.json']);
  const key = join(folder.path, 'keys', `${day}.key`);
  expect((await stat(key)).mode & 0o777).toBe(0o600);
  expect((await folder.run(['verify', day])).exitCode).toBe(0);
  expect(await readVerdict()).toBe('incorrect');

  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 40 * 86_400_000 });
  expect(await folder.run(['guest', 'purge', '--json'])).toMatchObject({ exitCode: 0, json: { left: [] } });
  await expect(stat(key)).rejects.toThrow('ENOENT');
  expect(await readVerdict()).toBe('incorrect');
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
