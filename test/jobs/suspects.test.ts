import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import type { CommandResult } from '../support/command.js';
import { day, prepareDay, type Settings } from '../support/day-folder.js';
import { expectEachOnce } from '../support/expectations.js';
import { prepareFileDay, remotePath } from '../support/file-day.js';
import { parseRecords } from '../support/file-service.js';
import { bookingsHeader, type MadeBooking, toCsv } from '../support/made-bookings.js';
import { fillCopyOf } from '../support/mapping-truth.js';
import { sandboxSftp } from '../support/sandbox-sftp.js';
import { useSftpServer } from '../support/use-servers.js';
import { guest, makeDoubtedBookings, type ReportedSuspect } from './doubted-bookings.js';

const listing = ['suspects', day, '--json'];

type ListedSuspect = ReportedSuspect & Readonly<Record<string, unknown>>;
/** The output of `suspects --json`, without what every list of bookings has. */
const listed = ({ json }: CommandResult) =>
  (json as { suspects: readonly ListedSuspect[] }).suspects.map(
    ({ runId, caseId, caseState, bookedHotel, copyHotel, distanceKm, hoursToCheckIn, ...suspect }) => suspect,
  );
/** The suspects in the report of a run. */
const reported = ({ report }: CommandResult) =>
  (report as { suspects?: { bookings: number; listed: readonly ReportedSuspect[] } }).suspects;
const withoutMaster = (bookings: readonly MadeBooking[]) =>
  `${bookingsHeader}\n${bookings.map(({ ServiceId: _, ...fields }) => ['', ...Object.values(fields)].join(',')).join('\n')}\n`;

/** A day by body with a filled local copy of the mappings. */
async function prepareDoubtedDay(count: number, settings: Settings = {}) {
  const doubted = makeDoubtedBookings(count, Date.now());
  const prepared = await prepareDay({ bookings: toCsv(doubted.bookings), settings });
  await fillCopyOf(prepared.folder, ...doubted.brought);
  return { ...prepared, ...doubted };
}

describe('suspects by body', () => {
  it('are all reported in one go, without others, and all bookings are sent', async () => {
    const { folder, standIn, bookings, suspects } = await prepareDoubtedDay(230);
    const result = await folder.runDay();
    expect(result.exitCode).toBe(0);
    expectEachOnce(standIn, bookings);
    expect(reported(result)).toEqual({
      bookings: suspects.length,
      listed: suspects,
    });
    expect(result.stderr).toContain(`suspects: ${suspects.length} bookings whose mapping differs`);
    expect(result.stderr).toContain(`hotel-review suspects ${day}`);

    const again = await folder.run(listing);
    expect(again).toMatchObject({ exitCode: 0, json: { day, runId: result.report.runId, suspects } });
    const words = (await folder.run(['suspects', day])).stdout;
    for (const { BookingReferenceId } of suspects)
      expect(words).toMatch(new RegExp(` ${BookingReferenceId} `));
    const status = await folder.run(['status', day, '--json']);
    expect(status.json).toMatchObject({
      runs: [{ suspects: { bookings: suspects.length, listed: suspects } }],
    });
  });

  it('are written to a file without guests', async () => {
    const { folder, suspects } = await prepareDoubtedDay(120);
    await folder.runDay();
    const { exitCode, stdout } = await folder.run(['suspects', day, '--csv', 'doubted.csv']);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('All of them are in doubted.csv.');
    const records = parse(await readFile(join(folder.path, 'doubted.csv')), { columns: true, bom: true });
    expect(records).toMatchObject(suspects.map(toCells));
    expect(Object.keys(records[0] ?? {})).not.toContain('BookingClientName');
  });

  it('show no guest in any output', async () => {
    const { folder } = await prepareDoubtedDay(60);
    const traced = ['--log-level', 'trace'];
    const results = [
      await folder.run(['run', '--day', day, '--json', ...traced]),
      await folder.run(['suspects', day]),
      await folder.run([...listing, ...traced]),
      await folder.run(['suspects', day, '--csv', 'doubted.csv', ...traced]),
      await folder.run(['show', 'BR-2']),
      await folder.run(['status', day]),
    ];
    for (const { exitCode, stdout, stderr } of results) {
      expect(exitCode).toBe(0);
      expect(stdout + stderr).not.toMatch(/Canaria|Zwitscherfink/);
    }
    const files = (await readdir(folder.path)).filter((name) => name !== `bookings-${day}.csv`);
    expect(files).toContain('doubted.csv');
    for (const name of files.filter((file) => file.includes('.')))
      expect(await readFile(join(folder.path, name), 'utf8')).not.toContain(guest);
  });

  it('are found by their reference', async () => {
    const { folder } = await prepareDoubtedDay(60);
    await folder.runDay();
    const { stdout } = await folder.run(['show', 'BR-2']);
    expect(stdout).toContain('suspect: the local copy has its hotel under ServiceId 1\n');
    const { json } = await folder.run(['show', 'BR-5', '--json']);
    expect(json).toMatchObject({ bookings: [{ suspect: { reason: 'moved', copyServiceId: null } }] });
    expect((await folder.run(['show', 'BR-8'])).stdout).not.toContain('suspect');
  });

  it('are limited to a hundred in the report, but complete in the command', async () => {
    const { folder, suspects } = await prepareDoubtedDay(600);
    const result = await folder.runDay();
    expect(reported(result)).toMatchObject({ bookings: 240, listed: suspects.slice(0, 100) });
    expect(listed(await folder.run(listing))).toEqual(suspects);
  });

  it('are counted in a dry run', async () => {
    const { folder, standIn, suspects } = await prepareDoubtedDay(100);
    const { json } = await folder.run(['run', '--day', day, '--dry-run', '--json']);
    expect(json).toMatchObject({ suspects: { bookings: suspects.length } });
    const { stdout } = await folder.run(['run', '--day', day, '--dry-run']);
    expect(stdout).toContain(`suspects: ${suspects.length} bookings`);
    expect(standIn.requests).toEqual([]);
  });

  it('of late bookings are listed with those of the day, each once', async () => {
    const { folder, standIn, bookings, suspects } = await prepareDoubtedDay(120);
    await folder.writeBookings(toCsv(bookings.slice(0, 80)));
    await folder.runDay();
    await folder.writeBookings(toCsv(bookings));
    const late = await folder.run(['replay', day, '--late', '--json']);
    expect(reported(late)?.listed).toEqual(suspects.filter(({ ServiceId }) => ServiceId > 100_080));
    expectEachOnce(standIn, bookings);
    expect(listed(await folder.run(listing)).toSorted(byId)).toEqual(suspects);
  });

  it('are not searched while there is no copy to compare with', async () => {
    const { bookings } = makeDoubtedBookings(60, Date.now());
    const { folder, standIn } = await prepareDay({ bookings: toCsv(bookings) });
    const result = await folder.runDay();
    expectEachOnce(standIn, bookings);
    expect(result.report).not.toHaveProperty('suspects');
    const { exitCode, json } = await folder.run(listing);
    expect({ exitCode, json }).toEqual({
      exitCode: 0,
      json: { day, runId: expect.any(String), state: 'succeeded', suspects: null },
    });
    const { stdout } = await folder.run(['suspects', day]);
    expect(stdout).toContain('was not compared with the local copy of the mappings');
    expect(stdout).toContain('hotel-review mappings sync');
  });
});

describe('a booking without a ServiceId', () => {
  it('is rejected, even if the copy knows its hotel', async () => {
    const { folder, bookings } = await prepareDoubtedDay(60);
    await folder.configure({ maxRejectedShare: 1 });
    await folder.writeBookings(withoutMaster(bookings));
    const result = await folder.runDay();
    expect(result.report.counts).toMatchObject({ read: 60, accepted: 0, rejected: 60 });
    expect(reported(result)).toEqual({ bookings: 0, listed: [] });
  });
});

describe('suspects by file', () => {
  const server = useSftpServer(sandboxSftp);

  async function prepareDoubtedFile(count: number, settings: Settings = {}) {
    const doubted = makeDoubtedBookings(count, Date.now());
    const prepared = await prepareFileDay(server(), { bookings: toCsv(doubted.bookings), settings });
    await fillCopyOf(prepared.folder, ...doubted.brought);
    return { ...prepared, ...doubted };
  }

  it('are all reported in one go, without others, and all bookings are in the file', async () => {
    const { folder, service, bookings, suspects } = await prepareDoubtedFile(230);
    const result = await folder.runDay();
    expect(result.exitCode).toBe(0);
    expect(service.calls.map(({ path }) => path)).toEqual([remotePath]);
    expect(parseRecords(service.calls[0]?.file)).toHaveLength(bookings.length);
    expect(reported(result)).toEqual({
      bookings: suspects.length,
      listed: suspects,
    });
    expect(listed(await folder.run(listing))).toEqual(suspects);
  });

  it('include bookings that are posted instead', async () => {
    const { folder, standIn, bookings, suspects } = await prepareDoubtedFile(50);
    await folder.writeBookings(
      toCsv(bookings.map((booking, index) => (index < 20 ? { ...booking, CheckOutDate: '' } : booking))),
    );
    const result = await folder.runDay();
    expect(result.exitCode).toBe(0);
    expect(standIn.accepted()).toHaveLength(20);
    const posted = new Set(bookings.slice(0, 20).map(({ BookingReferenceId }) => BookingReferenceId));
    expect(listed(await folder.run(listing))).toEqual(
      suspects.map(({ CheckOutDate, ...suspect }) =>
        posted.has(suspect.BookingReferenceId) ? suspect : { ...suspect, CheckOutDate },
      ),
    );
  });

  it('of a day with late bookings are reported once', async () => {
    const { folder, service, bookings, suspects } = await prepareDoubtedFile(40);
    await folder.writeBookings(toCsv(bookings.slice(0, 20)));
    await folder.runDay();
    await folder.writeBookings(toCsv(bookings));
    const late = await folder.run(['replay', day, '--late', '--json']);
    expect(late.exitCode).toBe(0);
    expect(parseRecords(service.calls.at(-1)?.file)).toHaveLength(bookings.length);
    expect(reported(late)).toMatchObject({ bookings: suspects.length });
    expect(listed(await folder.run(listing)).toSorted(byId)).toEqual(suspects);
  });
});

function toCells(suspect: ReportedSuspect): Record<string, string> {
  return Object.fromEntries(Object.entries(suspect).map(([name, value]) => [name, String(value ?? '')]));
}

function byId(one: ReportedSuspect, other: ReportedSuspect): number {
  return one.ServiceId - other.ServiceId;
}
