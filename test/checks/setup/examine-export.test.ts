import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../../src/base/safe-error.js';
import { createBusinessDay } from '../../../src/booking/business-day.js';
import { examineExport } from '../../../src/checks/setup/examine-export.js';
import { kindOf } from '../../../src/sources/registry.js';
import { settingsOf } from '../../contracts/sample.js';
import { openTestParts } from '../../support/source-parts.js';
import { createExportFolder } from './export-folder.js';

const header = 'hotel_id;reference;guest;arrival';

async function examine(content: string | Uint8Array, { written = new Date(0) } = {}) {
  const folder = await createExportFolder({ 'one.txt': content });
  return examineExport(
    {
      day: createBusinessDay('2026-11-20', 'Europe/Madrid'),
      written,
      open(kind) {
        const settings = settingsOf({ kind, path: `${folder}/one.txt` });
        return kindOf(settings.source).openSample(settings.source, openTestParts(settings));
      },
    },
    new AbortController().signal,
  );
}

async function examineOne(content: string | Uint8Array) {
  const { columns, ...examined } = await examine(content);
  return { ...examined, columns: Object.fromEntries(columns) };
}

describe('An export that is named by the day after its bookings', () => {
  const booked = (day: string, odd: string) => {
    const rows = Array.from({ length: 20 }, (_, at) => `7;B${at};${day} 12:00;01.02.2027\n`);
    return `hotel_id;reference;booked;arrival\n${rows.join('')}7;B20;${odd};02.02.2027\n`;
  };

  it.each([
    ['2026-11-19', '2026-11-20'],
    ['11/19/2026', '11/20/2026'],
  ])('is recognised by a column of the day before: %s', async (before, named) => {
    expect((await examine(booked(before, named))).isOfDayBefore).toContain('were made on the day before');
    expect((await examine(booked(named, before))).isOfDayBefore).toBeUndefined();
  });

  it('is recognised, without such a column, by having been written in the first half of the day that it names', async () => {
    const at = (time: string, content = `${header}\n`) =>
      examine(content, { written: new Date(`2026-11-${time}+01:00`) });
    expect((await at('20T02:15:00')).isOfDayBefore).toContain('written before noon');
    for (const time of ['19T23:59:59', '20T12:00:00', '21T02:15:00'])
      expect((await at(time)).isOfDayBefore).toBeUndefined();
    expect((await at('20T02:15:00', booked('2026-11-20', ''))).isOfDayBefore).toBeUndefined();
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
      dates: [{ format: 'dd/MM/yyyy', read: 2, seen: 2 }],
    });
  });

  it.each([
    [';', ';'],
    ['a tab', '\t'],
  ])('shows %s as the delimiter, whatever is between quotes', async (_, delimiter) => {
    const row = ['1', '"a,b;c|d\te,f;g|h\ti"', 'Ada', ''].join(delimiter);
    const examination = await examineOne(`${header.replaceAll(';', delimiter)}\r\n${row}\r\n`);
    expect(examination).toMatchObject({
      delimiter,
      columns: { ServiceId: 'hotel_id', CheckInDate: 'arrival' },
    });
  });

  it.each([
    ['a title', 'Bookings of the day;;\n\n', 2],
    ['both', 'sep=;\rBookings\r', 2],
  ])('may have %s above its header', async (_, above, skipRows) => {
    const lineEnd = above.includes('\r') ? '\r' : '\n';
    const lines = [header, '1;B1; "Ada; B";20/11/2026', '2;B2;Bob;21/11/2026', ';;;', ''];
    expect(await examineOne(`${above}${lines.join(lineEnd)}`)).toMatchObject({
      columns: { ServiceId: 'hotel_id', BookingClientName: 'guest' },
      delimiter: ';',
      skipRows,
      dates: [{ read: 2, seen: 2 }],
    });
  });

  it('is read up to its last complete line', async () => {
    const beginning = `${header}\n${`7;B1;${'x'.repeat(9980)};13/02/2026\n`.repeat(20)}`;
    // The first block ends in the middle of this row's date.
    const filler = 'x'.repeat(256 * 1024 - beginning.length - '7;B1;;13/02/20'.length);
    const examination = await examineOne(`${beginning}7;B1;${filler};13/02/2026\n8;B2;Ada;14/02/2026\n`);
    expect(examination.dates).toEqual([{ format: 'dd/MM/yyyy', read: 20, seen: 20 }]);
  });

  it.each([
    ['too many cells', '7;B1;Ada;Lovelace;20/11/2026;;'],
    ['a quote that is never closed', '7;B1;"Ada;20/11/2026'],
    ['a quote in its middle', '7;"B1" x;Ada;20/11/2026'],
    ['a date that is none', '7;B1;Ada;n.a.'],
    ['the delimiter of others', '7,B1,Ada,20/11/2026'],
  ])('is understood although its first record has %s', async (_, broken) => {
    for (const good of [1, 30]) {
      const rows = '8;B2;"Bob; B";21/11/2026\n'.repeat(good);
      const examination = await examineOne(`${header}\n${broken}\n${rows}`);
      expect(examination).toMatchObject({
        columns: { ServiceId: 'hotel_id', CheckInDate: 'arrival' },
        delimiter: ';',
      });
      if (good === 30) expect(examination.dates).toMatchObject([{ format: 'dd/MM/yyyy' }]);
    }
    expect(await examineOne(`${header}\n${broken}\n`)).toMatchObject({ delimiter: ';' });
  });

  it.each([['7,Ada Lovelace,B1,Roomly\n8,Bob,B2,Roomly\n'], ['\n\n']])(
    'is not a header in %j, and is not quoted',
    async (content) => {
      await expect(examine(content)).rejects.toThrow(
        new UsageError(
          'the file is no export: its first line is neither a header with the names of columns nor a JSON object',
        ),
      );
    },
  );

  it.each([
    ['a cut gzip', gzipSync(header).subarray(0, 20), 'cut off or damaged'],
    ['nothing', '', 'is empty'],
  ])('is refused when it is %s', async (_, content, fault) => {
    await expect(examine(content)).rejects.toThrow(fault);
    await expect(examine(content)).rejects.toBeInstanceOf(UsageError);
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
      // A dot in a name would be taken for a path.
      'extra.info': { note: 'x' },
      flight: { 'no.': 7 },
    };
    expect(await examineOne(`\n${JSON.stringify(booking)}\n{"reference":"B2"}\n`)).toMatchObject({
      columns: {
        ServiceId: 'hotel.id',
        BookingReferenceId: 'reference',
        BookingClientName: 'guest.name',
        CheckInDate: 'arrival',
      },
      unused: ['hotel.address.city', 'rooms'],
      delimiter: undefined,
      dates: [{ format: 'dd.MM.yyyy', read: 1, seen: 1 }],
    });
  });
});
