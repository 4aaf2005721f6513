import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { day, prepareDay, type Settings } from '../support/day-folder.js';
import { expectEachOnce, expectReport } from '../support/expectations.js';
import { prepareFileDay } from '../support/file-day.js';
import { success } from '../support/http-stand-in.js';
import { bookingsHeader, type MadeBooking, makeBookings } from '../support/made-bookings.js';
import { fillCopyOf } from '../support/mapping-truth.js';
import { openSsh } from '../support/sftp-programs.js';
import { useSftpServer } from '../support/use-servers.js';
import { makeDoubtedBookings } from './doubted-bookings.js';

const server = useSftpServer(openSsh);
const keep: Settings = { source: { keep: { Price: 'precio', Refundable: 'reembolsable' } } };
/** Part of every kept value, so that it is found wherever one went. */
const mark = 'q7';
const priceOf = (index: number) => `${(index * 37) % 500}.50`;
const refundableOf = (index: number) => (index % 3 === 0 ? '' : `${mark}-${index}`);

function toKeepingCsv(bookings: readonly MadeBooking[]): string {
  const rows = bookings.map((booking, index) =>
    [...Object.values(booking), priceOf(index), refundableOf(index)].join(','),
  );
  return `${[`${bookingsHeader},precio,reembolsable`, ...rows].join('\n')}\n`;
}

const keptOf = (index: number) => ({
  Price: priceOf(index),
  ...(refundableOf(index) !== '' && { Refundable: refundableOf(index) }),
});

interface Listed {
  readonly BookingReferenceId: string;
  readonly kept?: Readonly<Record<string, string>>;
}

describe('kept columns of a day by file', () => {
  // `guest export` prints it.
  const bookings = makeBookings(120).map((booking) => ({ ...booking, BookingClientName: 'Cañária Quetzal' }));
  const affected = [3, 5, 40, 77].map((index) => `BR-${index + 1}`);

  async function runFileDay(settings: Settings = keep) {
    const prepared = await prepareFileDay(server(), {
      bookings: toKeepingCsv(bookings),
      settings,
      async onCall(call) {
        await call.writeResult({ affected });
        return success;
      },
    });
    expectReport(await prepared.folder.runDay(), {
      exitCode: 0,
      state: 'succeeded',
      counts: { accepted: 120, affected: 4 },
    });
    return prepared;
  }

  it('are shown in the list of affected bookings, and neither service nor SFTP server sees them', async () => {
    const { folder, standIn, service } = await runFileDay();
    const { json } = await folder.run(['affected', day, '--json']);
    const listed = (json as { affected: readonly Listed[] }).affected;
    expect(listed.map(({ BookingReferenceId, kept }) => [BookingReferenceId, kept])).toEqual(
      [3, 5, 40, 77].map((index) => [`BR-${index + 1}`, keptOf(index)]),
    );

    const { stdout } = await folder.run(['affected', day, '--csv', 'affected.csv']);
    expect(stdout).toMatch(/Price +Refundable/);
    expect(stdout).toContain('111.50');
    const cells = parse(await readFile(join(folder.path, 'affected.csv')), { columns: true, bom: true });
    expect(cells).toMatchObject([{ Price: '111.50', Refundable: '' }, { Refundable: `${mark}-5` }, {}, {}]);

    expect(service.calls).toHaveLength(1);
    const sent = service.calls[0]?.file?.toString() ?? '';
    expect(sent).toContain('BR-78');
    expect(sent).not.toContain(mark);
    expect(sent).not.toMatch(/precio|Price|\.50/);
    expect(standIn.requests.map(({ url, body }) => `${url} ${body}`).join('\n')).not.toContain(mark);
  });

  it('are in show and in guest export, and removed by guest erase, for that guest only', async () => {
    const { folder } = await runFileDay({ ...keep, hashKey: 'a key of the tests', guestNames: 'send' });
    const { stdout } = await folder.run(['show', 'BR-6']);
    expect(stdout).toContain('Price (kept, not sent): 185.50\n');
    const exported = await folder.run(['guest', 'export', 'BR-6', '--json']);
    expect(exported.json).toMatchObject({ bookings: [{ kept: keptOf(5) }] });
    const erased = await folder.run(['guest', 'erase', 'BR-6', '--reason', 'a request', '--json']);
    expect(erased).toMatchObject({ exitCode: 0 });
    expect(JSON.stringify(erased.json)).toContain('kept columns of file batch 0');
    const keptNow = async (reference: string) => {
      const { json } = await folder.run(['show', reference, '--json']);
      return (json as { bookings: readonly Listed[] }).bookings[0]?.kept;
    };
    expect(await keptNow('BR-6')).toBeUndefined();
    expect(await keptNow('BR-5')).toEqual(keptOf(4));
    // A replay does not bring them back.
    await folder.run(['replay', day, '--reason', 'again', '--json']);
    expect(await keptNow('BR-6')).toBeUndefined();
    expect(await keptNow('BR-5')).toEqual(keptOf(4));
  });

  it('are in the record of processing', async () => {
    const { folder } = await runFileDay();
    const { json, stdout } = await folder.run(['privacy', '--json']);
    expect(json).toMatchObject({
      categories: expect.arrayContaining([{ category: 'kept-columns', fields: ['Price', 'Refundable'] }]),
    });
    expect(stdout).toContain('"categories":["guest-names","kept-columns","service-messages"]');
  });
});

describe('kept columns of a day by body', () => {
  it('are listed with suspects, and not sent', async () => {
    const doubted = makeDoubtedBookings(120, Date.now());
    const { folder, standIn } = await prepareDay({
      bookings: toKeepingCsv(doubted.bookings),
      settings: keep,
    });
    await fillCopyOf(folder, ...doubted.brought);
    expect((await folder.runDay()).exitCode).toBe(0);
    expectEachOnce(standIn, doubted.bookings);
    expect(standIn.requests.map(({ body }) => body.toString()).join('')).not.toContain(mark);
    const indexes = doubted.suspects.map(({ BookingReferenceId }) => Number(BookingReferenceId.slice(3)) - 1);
    const { json } = await folder.run(['suspects', day, '--json']);
    const listed = (json as { suspects: readonly Listed[] }).suspects;
    expect(listed.map(({ kept }) => kept?.Price)).toEqual(indexes.map(priceOf));
    expect((await folder.run(['suspects', day])).stdout).toMatch(/Price +Refundable/);
  });

  it('do not make records distinct: those of the first duplicate stay', async () => {
    const [booking] = makeBookings(1);
    const line = Object.values(booking ?? {}).join(',');
    const { folder } = await prepareDay({
      bookings: `${bookingsHeader},precio,reembolsable\n${line},1.50,first\n${line},2.50,second\n`,
      settings: keep,
    });
    expectReport(await folder.runDay(), {
      exitCode: 0,
      state: 'succeeded',
      counts: { accepted: 1, duplicates: 1 },
    });
    expect(await folder.run(['show', 'BR-1', '--json'])).toMatchObject({
      json: { bookings: [{ kept: { Price: '1.50', Refundable: 'first' } }] },
    });
  });

  it('are warned about by run, dry run and doctor where the source has none', async () => {
    const { folder } = await prepareDay({
      bookings: toKeepingCsv(makeBookings(3)),
      settings: { source: { keep: { Price: 'precio', Board: 'regimen' } } },
    });
    const dry = await folder.run(['run', '--day', day, '--dry-run', '--json']);
    expect(dry.json).toMatchObject({
      warnings: [{ reason: 'absent-column', count: 1 }],
      sampleKept: [{ Price: '0.50' }, { Price: '37.50' }, { Price: '74.50' }],
    });
    const doctor = await folder.run(['doctor', '--day', day]);
    expect(doctor.stdout).toContain('"regimen", which source.keep names');
    expect(doctor.stdout).toContain('kept, not sent: Price 37.50, Board –');
    const result = await folder.runDay();
    expect(result.exitCode).toBe(0);
    expect(result.stderr).toContain('no column regimen: nothing of it is kept');
  });

  it('are read in the thread of a large day, too', async () => {
    const bookings = makeBookings(70_000);
    const { folder, standIn } = await prepareDay({
      bookings: toKeepingCsv(bookings),
      settings: { ...keep, body: { batchSize: 2_000 } },
    });
    expect((await readFile(folder.bookingsFile)).length).toBeGreaterThan(4 * 1024 * 1024);
    expectReport(await folder.runDay(), {
      exitCode: 0,
      state: 'succeeded',
      counts: { accepted: 70_000, delivered: 70_000 },
    });
    expect(await folder.run(['show', 'BR-69999', '--json'])).toMatchObject({
      json: { bookings: [{ kept: keptOf(69_998) }] },
    });
    expect(standIn.requests.some(({ body }) => body.includes(`${mark}-`))).toBe(false);
  });
});
