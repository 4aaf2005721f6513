import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { CommandResult } from '../support/command.js';
import { day, prepareDay, type Settings } from '../support/day-folder.js';
import { expectEachOnce, expectReport } from '../support/expectations.js';
import { bookingsHeader, type MadeBooking, makeBookings, toCsv } from '../support/made-bookings.js';
import { columnsIn } from '../support/source-columns.js';

const bookings = makeBookings(60);
const good = toCsv(bookings);

/** The lines of a good file with some replaced, by their number from 1. */
function withLines(changes: Readonly<Record<number, string>>): string {
  return good
    .split('\n')
    .map((line, index) => changes[index + 1] ?? line)
    .join('\n');
}

const without = (...references: string[]): MadeBooking[] =>
  bookings.filter(({ BookingReferenceId }) => !references.includes(BookingReferenceId));

describe('a day that cannot be trusted fails before anything is sent, and is resumed once it is fixed:', () => {
  interface Broken {
    readonly bytes: string | Uint8Array;
    readonly message: RegExp;
    readonly settings?: Settings;
  }
  const cases: Readonly<Record<string, Broken>> = {
    'a file of zero bytes': { bytes: '', message: /bookings-2026-11-20\.csv is empty/ },
    'a byte order mark and nothing else': { bytes: '\ufeff', message: /bookings-2026-11-20\.csv is empty/ },
    'a file without the master id column': {
      bytes: good.replace('ServiceId', 'HotelId'),
      message: /"ServiceId" is not in the header/,
    },
    'a file without a mapped column': {
      bytes: good,
      message: /"guest" \(for BookingClientName\) is not in the header/,
      settings: { source: { columns: { BookingClientName: 'guest' } } },
    },
    'a column that occurs twice': {
      bytes: good.replace('ProviderName', 'ServiceId'),
      message: /"ServiceId" occurs twice/,
    },
    'a NUL in the middle': {
      bytes: withLines({ 31: '100030,BR-30,Gu\0est,Expedia,0030A,2026-12-01,2026-12-08' }),
      message: /line 31, is not UTF-8 text/,
    },
    'a picture': {
      bytes: Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
      message: /line 1, is not UTF-8 text/,
    },
    'UTF-16': {
      bytes: Buffer.from(good, 'utf16le'),
      message: /line 1, is not UTF-8 text: it looks like utf-16le: set source\.encoding/,
    },
    'Windows-1252': {
      bytes: Buffer.from(
        withLines({ 12: '100011,BR-11,Jos\u00e9,Expedia,0011A,2026-12-01,2026-12-08' }),
        'latin1',
      ),
      message: /line 12, is not UTF-8 text: it looks like windows-1252: set source\.encoding/,
    },
    'UTF-8 that is to be read as Windows-1252': {
      bytes: withLines({ 12: '100011,BR-11,Jos\u00e9,Expedia,0011A,2026-12-01,2026-12-08' }),
      message: /is UTF-8 text, but source\.encoding is windows-1252, .*: set source\.encoding: utf-8/,
      settings: { source: { encoding: 'windows-1252' } },
    },
    'a quote that is never closed': {
      bytes: withLines({ 41: '100040,BR-40,"Guest 40,Expedia,0040A,2026-12-01,2026-12-08' }),
      message: /line 41: the record that begins there has a quote that is never closed/,
    },
    'a truncated gzip file': {
      bytes: gzipSync(good).subarray(0, 300),
      message: /bookings-2026-11-20\.csv is a gzip file that is cut off or damaged/,
    },
    'a corrupt gzip file': {
      bytes: gzipSync(good).fill(0x55, 100, 140),
      message: /bookings-2026-11-20\.csv is a gzip file that is cut off or damaged/,
    },
    'rejects for half of its records': {
      bytes: toCsv(
        bookings.map((booking, index) => (index % 2 === 0 ? booking : { ...booking, ServiceId: 0 })),
      ),
      message: /30 of 60 records .* cannot be sent, more than maxRejectedShare allows \(10%\)/,
    },
    'more than a tenth of its dates in another format': {
      bytes: toCsv(bookings.map((booking, index) => (index < 7 ? reformat(booking) : booking))),
      message: /14 of 120 dates .* are not calendar dates: check source\.dateFormat/,
    },
    'no booking': {
      bytes: `${bookingsHeader}\n`,
      message: /holds no booking; if days without bookings are normal, set emptyDay: succeed/,
    },
    'no booking that the filter takes': {
      bytes: good,
      message: /holds no booking that source\.where takes \(60 filtered\)/,
      settings: { source: { where: { BookingReferenceId: ['none'] } } },
    },
    'an end in the middle of a cell': {
      bytes: good.slice(0, good.lastIndexOf(',') - 3),
      message: /line 61: the file ends in the middle of that record/,
    },
    'a workbook': {
      bytes: Buffer.from('504b0304140000000800', 'hex'),
      message: /is an Excel workbook or an archive: export the bookings as CSV/,
    },
  };

  function reformat(booking: MadeBooking): MadeBooking {
    return { ...booking, CheckInDate: '01/12/2026', CheckOutDate: '08/12/2026' };
  }

  it.each(Object.entries(cases))('%s', async (_, { bytes, message, settings = {} }) => {
    const { standIn, folder } = await prepareDay({ bookings: bytes, settings, hasWorkers: false });
    const result = await folder.runDay();
    expectReport(result, { exitCode: 1, state: 'failed', counts: { delivered: 0, refused: 0 } });
    expect(result.report.error).toEqual({ class: 'data', message: expect.stringMatching(message) });
    expect(result.report.error?.message).toContain(folder.bookingsFile);
    expect(standIn.connections).toBe(0);
    expect(result.stderr).not.toContain('Guest ');

    await folder.configure({
      source: {
        columns: { BookingClientName: 'BookingClientName' },
        where: { BookingReferenceId: { not: ['none'] } },
      },
    });
    await folder.writeBookings(good);
    const again = await folder.runDay();
    const counts = { read: 60, accepted: 60, rejected: 0, delivered: 60, repeated: 0 };
    expectReport(again, { exitCode: 0, state: 'succeeded', counts });
    expect(again.report.runId).toBe(result.report.runId);
    expectEachOnce(standIn, bookings);
  });

  it('a missing file: the message contains its path', async () => {
    const { standIn, folder } = await prepareDay({
      settings: { source: { path: 'exports/{day:yyyy}/bookings-{day:ddMMyyyy}.csv.gz' } },
    });
    const result = await folder.runDay();
    expectReport(result, { exitCode: 1, state: 'failed', counts: { read: 0 } });
    const path = `${folder.path}/exports/2026/bookings-20112026.csv.gz`;
    expect(result.report.error).toEqual({ class: 'data', message: `there is no file ${path}` });
    expect(standIn.connections).toBe(0);

    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, gzipSync(good));
    const again = await folder.runDay();
    expectReport(again, { exitCode: 0, state: 'succeeded', counts: { delivered: 60 } });
    expect(again.report.runId).toBe(result.report.runId);
    expectEachOnce(standIn, bookings);
  });
});

it('a FIFO instead of the file fails the day at once, without waiting for a writer', async () => {
  const { standIn, folder } = await prepareDay({});
  execFileSync('mkfifo', [folder.bookingsFile]);
  const result = await folder.runDay();
  expectReport(result, { exitCode: 1, state: 'failed', counts: { read: 0 } });
  const message = `${folder.bookingsFile} is a FIFO, expected a file`;
  expect(result.report.error).toEqual({ class: 'data', message });
  expect(standIn.connections).toBe(0);
});

describe('an empty day', () => {
  it('with only a header, if configured to succeed, sends nothing and says so', async () => {
    const { standIn, folder } = await prepareDay({
      bookings: `${bookingsHeader}\r\n`,
      settings: { emptyDay: 'succeed' },
    });
    const result = await folder.runDay();
    expectReport(result, { exitCode: 0, state: 'succeeded', counts: { read: 0, accepted: 0, delivered: 0 } });
    expect(result.stderr).toContain('nothing was sent');
    expect(standIn.connections).toBe(0);
  });
});

describe('a record that cannot be sent is rejected with its place, and the others are delivered:', () => {
  interface Reject {
    readonly reason: string;
    readonly count: number;
    readonly firstPlace: number;
  }

  async function reviewWith(csv: string | Uint8Array, settings: Settings = {}) {
    const { standIn, folder } = await prepareDay({ bookings: csv, settings });
    const result = await folder.runDay();
    const status = (await folder.run(['status', day, '--json'])).json as {
      runs: [{ rejects: Reject[]; warnings: Reject[] }];
    };
    return { standIn, folder, result, ...status.runs[0] };
  }

  function expectDelivered(result: CommandResult, rejected: number): void {
    const delivered = bookings.length - rejected;
    expectReport(result, { exitCode: 0, state: 'succeeded', counts: { read: 60, rejected, delivered } });
  }

  it('too few cells and too many', async () => {
    const csv = withLines({ 3: '100002,BR-2', 9: '100008,BR-8,a,b,c,2026-12-01,2026-12-08,one more' });
    const { standIn, result, rejects } = await reviewWith(csv);
    expectDelivered(result, 2);
    expect(rejects).toEqual([{ reason: 'wrong-cell-count', count: 2, firstPlace: 3 }]);
    expect(result.stderr).toMatch(/wrong-cell-count +2 +first at line 3/);
    expectEachOnce(standIn, without('BR-2', 'BR-8'));
  });

  it('a record of more than 1 MB', async () => {
    const name = 'x'.repeat(1_000_001);
    const csv = withLines({ 21: `100020,BR-20,${name},Expedia,0020A,2026-12-01,2026-12-08` });
    const { standIn, result, rejects } = await reviewWith(csv);
    expectDelivered(result, 1);
    expect(rejects).toEqual([{ reason: 'record-too-long', count: 1, firstPlace: 21 }]);
    expectEachOnce(standIn, without('BR-20'));
  });

  it('a misplaced quote', async () => {
    const csv = withLines({ 5: '100004,BR-4,"Guest" 4,Expedia,004A,2026-12-01,2026-12-08' });
    const { standIn, result, rejects } = await reviewWith(csv);
    expectDelivered(result, 1);
    expect(rejects).toEqual([{ reason: 'malformed-quotes', count: 1, firstPlace: 5 }]);
    expectEachOnce(standIn, without('BR-4'));
  });

  it('an invalid master id; show says where it is and why', async () => {
    const ids = {
      missing: ['', '   ', '\u3000', 'NULL', 'none', 'NaN', 'undefined'],
      invalid: [
        '0',
        '000',
        '-5',
        '+5',
        '1.0',
        '1e3',
        '12a',
        '0x1F',
        '1_000',
        '\u0663\u0664',
        '\uff11',
        '9007199254740992',
      ],
      accepted: { '7': 7, '007': 7, ' 12 ': 12, '\u00a0\u200913': 13, '9007199254740991': 2 ** 53 - 1 },
    };
    const texts = [...ids.missing, ...ids.invalid, ...Object.keys(ids.accepted)];
    const csv = texts.map((id, index) => `"${id}",ID-${index}`).join('\n');
    const { standIn, folder, result, rejects } = await reviewWith(`ServiceId,BookingReferenceId\n${csv}\n`, {
      source: { columns: columnsIn('BookingReferenceId') },
      maxRejectedShare: 1,
    });
    expectReport(result, { exitCode: 0, state: 'succeeded', counts: { delivered: 5, rejected: 19 } });
    expect(rejects).toEqual(
      expect.arrayContaining([
        { reason: 'service-id-missing', count: 7, firstPlace: 2 },
        { reason: 'service-id-invalid', count: 12, firstPlace: 9 },
      ]),
    );
    const expected = texts.flatMap((id, index) => {
      const ServiceId = Object.entries(ids.accepted).find(([text]) => text === id)?.[1];
      return ServiceId === undefined ? [] : [{ ServiceId, BookingReferenceId: `ID-${index}` }];
    });
    expect(new Set(standIn.accepted())).toEqual(new Set(expected));
    const shown = await folder.run(['show', 'ID-9']);
    expect(shown.stdout).toContain('ID-9: rejected in run');
    expect(shown.stdout).toContain('service-id-invalid, at place 11 of the source');
  });

  it('an invalid date is not rejected: it is omitted, with a warning', async () => {
    const csv = withLines({ 11: '100010,BR-10,Guest 10,Hotelbeds,0010A,2026-02-30,2026-12-08' });
    const { standIn, result, warnings } = await reviewWith(csv);
    expectDelivered(result, 0);
    expect(warnings).toEqual([{ reason: 'unreadable-check-in-date', count: 1, firstPlace: 11 }]);
    const expected = bookings.map(({ CheckInDate, ...booking }) =>
      booking.BookingReferenceId === 'BR-10' ? booking : { ...booking, CheckInDate },
    );
    expectEachOnce(standIn, expected);
  });

  it('dates in the configured format arrive as YYYY-MM-DD, a time part is cut, and check-out may be early', async () => {
    const rows = [
      '1,01.12.2026,08.12.2026',
      '2,2026-12-01T14:00:00Z,2026-12-08 10:00',
      '3,03.12.2026,01.12.2026',
    ];
    const { standIn, result, warnings } = await reviewWith(
      `ServiceId,CheckInDate,CheckOutDate\n${rows.join('\n')}\n`,
      { source: { dateFormat: 'dd.MM.yyyy', columns: columnsIn('CheckInDate,CheckOutDate') } },
    );
    expectReport(result, { exitCode: 0, state: 'succeeded', counts: { delivered: 3 } });
    expect(warnings).toContainEqual({ reason: 'check-out-before-check-in', count: 1, firstPlace: 4 });
    expectEachOnce(standIn, [
      { ServiceId: 1, CheckInDate: '2026-12-01', CheckOutDate: '2026-12-08' },
      { ServiceId: 2, CheckInDate: '2026-12-01', CheckOutDate: '2026-12-08' },
      { ServiceId: 3, CheckInDate: '2026-12-03', CheckOutDate: '2026-12-01' },
    ]);
  });

  it('rows with equal values count as duplicates, however they are written', async () => {
    const csv = `${good}${withLines({ 1: '' }).trim()}\n100001,"BR-1", Guest 1 ,Expedia,001A,2026-12-01T00:00,2026-12-08\n`;
    const { standIn, result } = await reviewWith(csv);
    const counts = { read: 121, accepted: 60, duplicates: 61, rejected: 0, delivered: 60 };
    expectReport(result, { exitCode: 0, state: 'succeeded', counts });
    expectEachOnce(standIn, bookings);
  });
});

it('a good file may have CRLF, a byte order mark, gzip, another delimiter and renamed columns', async () => {
  const renamed = good
    .replace('ServiceId', 'hotel')
    .replace('BookingClientName', 'guest')
    .replaceAll(',', ';');
  const { standIn, folder } = await prepareDay({
    bookings: gzipSync(`\ufeff${renamed.replaceAll('\n', '\r\n')}`),
    settings: { source: { delimiter: ';', columns: { ServiceId: 'hotel', BookingClientName: 'guest' } } },
  });
  expectReport(await folder.runDay(), { exitCode: 0, state: 'succeeded', counts: { delivered: 60 } });
  expectEachOnce(standIn, bookings);
});
