import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { day } from '../support/day-folder.js';
import { expectReport } from '../support/expectations.js';
import { useFastClock } from '../support/fast-clock.js';
import { prepareFileDay, remotePath } from '../support/file-day.js';
import { findText } from '../support/found-text.js';
import { success } from '../support/http-stand-in.js';
import { makeBookings, toCsv } from '../support/made-bookings.js';
import { openSsh } from '../support/sftp-programs.js';
import { usePostgres, useSftpServer } from '../support/use-servers.js';

const server = useSftpServer(openSsh);
const postgres = usePostgres();
const guest = 'Cañária Quetzal';
const bookings = makeBookings(6).map((booking) =>
  booking.BookingReferenceId === 'BR-2' ? { ...booking, BookingClientName: guest } : booking,
);

/** Everything that the database holds, as text; bytes in hexadecimal. */
async function readDatabase(url: string): Promise<string> {
  const { query } = postgres();
  const tables = await query(url, "SELECT tablename FROM pg_tables WHERE schemaname = 'hotel_review'");
  const rows = await Promise.all(
    tables.map(({ tablename }) => query(url, `SELECT t::text AS row FROM hotel_review."${tablename}" t`)),
  );
  return rows
    .flat()
    .map(({ row }) => String(row))
    .join('\n');
}

it('what is kept of a guest is handed out, erased, kept out of a replay, and purged when it is due', async () => {
  const ledger = await postgres().createDatabase();
  const clock = useFastClock();
  clock.set('2026-11-21T02:30:00Z');
  const {
    folder,
    standIn,
    listRemote,
    server: sftp,
  } = await prepareFileDay(server(), {
    bookings: toCsv(bookings),
    settings: { ledger, hashKey: 'a key of the tests' },
    async onCall(call) {
      await call.writeResult({ affected: ['BR-2'] });
      return success;
    },
  });
  /** Where the text stands: in files of ours, or in the database. */
  const search = async (text: string) => {
    const database = await readDatabase(ledger);
    const isInDatabase = [text, Buffer.from(text).toString('hex')].some((form) => database.includes(form));
    const files = findText(folder.path, text).filter((path) => path !== folder.bookingsFile);
    return [...files, ...(isInDatabase ? ['database'] : [])];
  };
  expectReport(await folder.runDay(), { exitCode: 0, state: 'succeeded', counts: { affected: 1 } });
  expect(await search(guest)).toEqual(expect.arrayContaining(['database', expect.stringMatching(/archive/)]));

  const exported = await folder.run(['guest', 'export', 'BR-2', '--json']);
  expect(exported).toMatchObject({
    exitCode: 0,
    json: {
      bookings: [{ day, verdict: 'incorrect', booking: { BookingClientName: guest } }],
      files: expect.arrayContaining([
        expect.objectContaining({ name: '20112026.csv' }),
        expect.objectContaining({ name: '20112026_Result.csv' }),
      ]),
    },
  });
  expect(exported.stdout).not.toMatch(/BR-[13456]|Guest \d/);

  const erase = ['guest', 'erase', 'BR-2', '--reason', `${guest} asked`, '--json'];
  const dry = await folder.run([...erase, '--dry-run']);
  expect((await folder.run(['verify', day])).exitCode).toBe(0);
  const erased = await folder.run(erase);
  expect(erased).toMatchObject({ exitCode: 0, json: { reason: '*** *** asked', left: [] } });
  expect(JSON.parse(erased.stdout).erased).toEqual(JSON.parse(dry.stdout).erased);
  expect(await search(guest)).toEqual([]);
  expect(listRemote()).toEqual([]);
  const verified = await folder.run(['verify', day]);
  expect(verified).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('because a guest was erased'),
  });

  const replayed = await folder.run(['replay', day, '--reason', 'again', '--json']);
  expectReport(replayed, { exitCode: 0, state: 'succeeded', counts: { delivered: 6, posted: 1 } });
  const { BookingClientName: _, ...nameless } = bookings[1] ?? {};
  expect(standIn.accepted()).toEqual([nameless]);
  expect(await readFile(sftp.disk(remotePath), 'utf8')).not.toMatch(/BR-2|Quetzal/);
  expect(await search(guest)).toEqual([]);
  const other = bookings[0]?.BookingClientName ?? '';
  expect(await search(other)).toContain('database');

  const purge = ['guest', 'purge', '--json'];
  expect(await folder.run(purge)).toMatchObject({ exitCode: 0, json: { runs: [], left: [] } });
  clock.set('2027-01-20T02:30:00Z');
  expect(await folder.run(purge)).toMatchObject({ exitCode: 0, json: { left: [] } });
  expect(await search(other)).toEqual([]);
  expect((await folder.run(['affected', day, '--json'])).json).toMatchObject({
    affected: [{ ServiceId: 100_002 }],
  });
});
