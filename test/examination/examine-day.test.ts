import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { ServiceField } from '../../src/booking/booking.js';
import { createExportFolder } from '../setup/export-folder.js';
import { openTrials } from '../setup/open-trials.js';

const header = 'hotel_id;reference;guest;arrival';

async function examine(
  files: Record<string, string | Uint8Array>,
  path = 'exports/bookings-{day}.csv',
  kind: 'csv' | 'ndjson' = 'csv',
  columns?: ReadonlyMap<ServiceField, string>,
) {
  const folder = await createExportFolder(files);
  const answered = { timezone: 'UTC', source: { kind, path }, secrets: {}, day: undefined };
  return openTrials(folder).examine(answered, columns);
}

async function examineOne(content: string | Uint8Array, kind: 'csv' | 'ndjson' = 'csv') {
  const examination = await examine({ 'one.txt': content }, 'one.txt', kind);
  if (examination.kind !== 'examined') throw new Error(`expected to understand it, got ${examination.kind}`);
  return { ...examination, columns: Object.fromEntries(examination.columns) };
}

describe('The newest export', () => {
  it.each([
    ['exports/bookings-{day}.csv', 'exports/bookings-2026-11-20.csv', 'exports/bookings-2026-11-19.csv'],
    ['{day:yyyy/MM}/b{day:ddMMyyyy}.csv', '2026/11/b20112026.csv', '2026/10/b21102026.csv'],
    ['{day:yyyy}/{day:MM}/{day:dd}.csv', '2026/11/20.csv', '2025/12/31.csv'],
    ['{day}/bookings.csv', '2026-11-20/bookings.csv', '2024-01-31/bookings.csv'],
  ])('of %s is the one that is examined', async (path, newest, older) => {
    const examination = await examine({ [newest]: header, [older]: 'ServiceId' }, path);
    expect(examination).toMatchObject({ kind: 'examined', location: newest, day: '2026-11-20' });
  });

  it('may be of a future day, or years old', async () => {
    expect(await examine({ 'exports/bookings-2027-05-01.csv': header })).toMatchObject({ day: '2027-05-01' });
    expect(await examine({ 'exports/bookings-2024-02-29.csv': header })).toMatchObject({ day: '2024-02-29' });
  });

  it.each([
    ['{day:ddMM}.csv', ['2011.csv', '1911.csv', '2211.csv'], '2026-11-20'],
    ['{day:MMdd}.csv', ['1121.csv', '1120.csv'], '2026-11-21'],
    ['{day:MM/dd}.csv', ['11/22.csv', '12/31.csv'], '2025-12-31'],
    ['{day:MMdd}.csv', ['0229.csv'], '2024-02-29'],
    ['{day:dd}.csv', ['20.csv', '22.csv'], '2026-11-20'],
    ['{day:EEEE}.csv', ['Sunday.csv', 'Friday.csv'], '2026-11-20'],
    ['{day:ddMMyy}.csv', ['201127.csv', '201126.csv'], '2027-11-20'],
  ])(
    'of %s, of %j, is that of the latest day that has passed unless it names the year',
    async (path, files, day) => {
      const written = Object.fromEntries(files.map((file) => [file, header]));
      expect(await examine(written, path)).toMatchObject({ day });
    },
  );

  it('may have a name without the day, and then counts as that of yesterday', async () => {
    expect(await examine({ 'b.csv': header }, 'b.csv')).toMatchObject({
      location: 'b.csv',
      day: '2026-11-20',
    });
  });

  it('may be missing, and so may its folder', async () => {
    expect(await examine({ 'exports/other.csv': header })).toEqual({ kind: 'no-file' });
    expect(await examine({})).toEqual({ kind: 'no-file' });
  });
});

describe('The beginning of a CSV file', () => {
  it('shows columns, delimiter and dates', async () => {
    expect(
      await examineOne(`${header};price\n1;B1;"Ada; B";20/11/2026;7,50\n2;B2;Bob;21/11/2026;8,50\n`),
    ).toMatchObject({
      columns: {
        ServiceId: 'hotel_id',
        BookingReferenceId: 'reference',
        BookingClientName: 'guest',
        CheckInDate: 'arrival',
      },
      missing: ['ProviderName', 'ProviderHotelId', 'CheckOutDate'],
      unused: ['price'],
      delimiter: ';',
      dates: { kind: 'one', format: 'dd/MM/yyyy', read: 2, seen: 2 },
    });
  });

  it.each([
    [',', ','],
    [';', ';'],
    ['|', '|'],
    ['a tab', '\t'],
  ])('shows %s as the delimiter, whatever is between quotes', async (_, delimiter) => {
    const row = ['1', '"a,b;c|d\te,f;g|h\ti"', 'Ada', ''].join(delimiter);
    const examination = await examineOne(`${header.replaceAll(';', delimiter)}\r\n${row}\r\n`);
    expect(examination).toMatchObject({
      delimiter,
      columns: { ServiceId: 'hotel_id', CheckInDate: 'arrival' },
    });
  });

  it('may have a byte order mark, blanks around the names, and gzip compression', async () => {
    const text = '\ufeff hotel_id , reference\n1,B1\n';
    expect((await examineOne(text)).columns).toEqual({
      ServiceId: 'hotel_id',
      BookingReferenceId: 'reference',
    });
    expect((await examineOne(gzipSync(text))).columns).toMatchObject({ ServiceId: 'hotel_id' });
  });

  it.each([
    ['a title', 'Bookings of the day;;\n\n', 2],
    ['a line that names the delimiter', 'sep=;\n', 0],
    ['both', 'sep=;\rBookings\r', 2],
  ])('may have %s above its header', async (_, above, skipRows) => {
    const lineEnd = above.includes('\r') ? '\r' : '\n';
    const lines = [header, '1;B1; "Ada; B";20/11/2026', '2;B2;Bob;21/11/2026', ';;;', ''];
    expect(await examineOne(`${above}${lines.join(lineEnd)}`)).toMatchObject({
      columns: { ServiceId: 'hotel_id', BookingClientName: 'guest' },
      delimiter: ';',
      skipRows,
      dates: { read: 2, seen: 2 },
    });
  });

  it('may be a header only, with one column', async () => {
    expect(await examineOne('hotel_id')).toMatchObject({
      columns: { ServiceId: 'hotel_id' },
      delimiter: undefined,
    });
  });

  it('is enough for a large file, and may end within a record', async () => {
    const rows = Array.from({ length: 20_000 }, (_, at) => `${at};B${at};Ada "x";20/11/2026`).join('\n');
    expect(await examineOne(`${header}\n${rows}`)).toMatchObject({
      delimiter: ';',
      dates: { format: 'dd/MM/yyyy' },
    });
  });

  it('is read up to its last complete line', async () => {
    const beginning = `${header}\n${`7;B1;${'x'.repeat(9980)};13/02/2026\n`.repeat(20)}`;
    // The first block ends in the middle of this row's date.
    const filler = 'x'.repeat(256 * 1024 - beginning.length - '7;B1;;13/02/20'.length);
    const examination = await examineOne(`${beginning}7;B1;${filler};13/02/2026\n8;B2;Ada;14/02/2026\n`);
    expect(examination.dates).toEqual({ kind: 'one', format: 'dd/MM/yyyy', read: 20, seen: 20 });
  });

  it('is enough to tell day and month apart where hundreds of dates are ambiguous', async () => {
    const rows = `${'7;B1;Ada;01/02/2026\n'.repeat(400)}7;B1;Ada;13/02/2026\n`;
    expect((await examineOne(`${header}\n${rows}`)).dates).toMatchObject({ kind: 'one', seen: 401 });
  });

  it.each([
    ['too few cells', '7;B1'],
    ['too many cells', '7;B1;Ada;Lovelace;20/11/2026;;'],
    ['a quote that is never closed', '7;B1;"Ada;20/11/2026'],
    ['a quote in its middle', '7;"B1" x;Ada;20/11/2026'],
    ['nothing but delimiters', ';;;'],
    ['a date that is none', '7;B1;Ada;n.a.'],
    ['the delimiter of others', '7,B1,Ada,20/11/2026'],
  ])('is understood although its first record has %s', async (_, broken) => {
    for (const good of [1, 2, 30]) {
      const rows = '8;B2;"Bob; B";21/11/2026\n'.repeat(good);
      const examination = await examineOne(`${header}\n${broken}\n${rows}`);
      expect(examination).toMatchObject({
        columns: { ServiceId: 'hotel_id', CheckInDate: 'arrival' },
        delimiter: ';',
      });
      if (good === 30) expect(examination.dates).toMatchObject({ kind: 'one', format: 'dd/MM/yyyy' });
    }
    expect(await examineOne(`${header}\n${broken}\n`)).toMatchObject({ delimiter: ';' });
  });

  it('is read beyond a quote that is never closed', async () => {
    const text = `${header}\n7;B1;"Ada;20/11/2026\n${'8;B2;Bob;21/11/2026\n'.repeat(30)}`;
    expect((await examineOne(text)).dates).toMatchObject({ kind: 'one', format: 'dd/MM/yyyy', seen: 30 });
  });

  it('may have line ends inside cells', async () => {
    const row = '7;B1;"Ada\nLovelace";20/11/2026\n';
    const examination = await examineOne(`"hotel_id";reference;"lead\nguest";arrival\n${row.repeat(3)}`);
    expect(examination).toMatchObject({
      columns: { BookingClientName: 'lead\nguest' },
      dates: { format: 'dd/MM/yyyy', seen: 3 },
    });
  });

  it('shows no date format while no date column is known', async () => {
    const text = 'hotel_id,from,to\n7,20.11.2026,22.11.2026\n';
    expect((await examineOne(text)).dates).toEqual({ kind: 'no-column' });
    const columns = new Map([['CheckInDate', 'from'] as const]);
    expect(await examine({ 'one.csv': text }, 'one.csv', 'csv', columns)).toMatchObject({
      columns: new Map([
        ['ServiceId', 'hotel_id'],
        ['CheckInDate', 'from'],
      ]),
      unused: ['to'],
      dates: { kind: 'one', format: 'dd.MM.yyyy' },
    });
  });

  it.each([
    ['7,Ada Lovelace,B1,Roomly\n8,Bob,B2,Roomly\n'],
    ['Ada Lovelace,2026-11-20\nBob,2026-11-21\n'],
    ['\n\n'],
  ])('is not a header in %j, and is not quoted', async (content) => {
    const examination = await examine({ 'one.csv': content }, 'one.csv');
    expect(examination).toEqual({
      kind: 'unusable',
      location: 'one.csv',
      day: '2026-11-20',
      reason: 'its first line is not a header with column names',
    });
  });

  it.each([
    ['a cut gzip', gzipSync(header).subarray(0, 20), 'truncated'],
    ['nothing', '', 'empty'],
  ])('is not understood when it is %s', async (_, content, fault) => {
    expect(await examine({ 'one.csv': content }, 'one.csv')).toMatchObject({
      kind: 'unusable',
      reason: `it can't be read as an export (${fault})`,
    });
  });
});

describe('The beginning of an NDJSON file', () => {
  it('shows the members at any depth, and the dates', async () => {
    const booking = {
      hotel: { id: 7, address: { city: 'x' } },
      reference: 'B1',
      guest: { name: 'Ada' },
      arrival: '20.11.2026',
      rooms: [1],
    };
    expect(await examineOne(`\n${JSON.stringify(booking)}\n{"reference":"B2"}\n`, 'ndjson')).toMatchObject({
      columns: {
        ServiceId: 'hotel.id',
        BookingReferenceId: 'reference',
        BookingClientName: 'guest.name',
        CheckInDate: 'arrival',
      },
      unused: ['hotel.address.city', 'rooms'],
      delimiter: undefined,
      dates: { kind: 'one', format: 'dd.MM.yyyy', read: 1, seen: 1 },
    });
  });

  it('is understood although its first line is broken', async () => {
    const text = `{"hotel_id":7,"arr\n${'{"hotel_id":8,"arrival":"20.11.2026"}\n'.repeat(2)}`;
    expect(await examineOne(text, 'ndjson')).toMatchObject({
      columns: { ServiceId: 'hotel_id', CheckInDate: 'arrival' },
      dates: { kind: 'one', format: 'dd.MM.yyyy' },
    });
  });

  it('is not understood when no line is an object', async () => {
    expect(await examine({ 'one.json': `${header}\n[1]\n` }, 'one.json', 'ndjson')).toMatchObject({
      kind: 'unusable',
      reason: 'none of its first lines is a JSON object',
    });
  });
});
