import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { serviceFields } from '../../../src/booking/booking.js';
import type { SourceColumns } from '../../../src/booking/source.js';
import { createCsvSource } from '../../../src/sources/csv/csv-source.js';
import { createLocalDayFile } from '../../../src/sources/files/day-file.js';
import { masterIdOnly } from '../../support/source-columns.js';
import { makeTemporaryFolder } from '../../support/temporary-folder.js';
import { expectFault, readCsv, readToEnd, summarise } from '../reading.js';

/** Each record as place:ServiceId, however the bytes arrive; and the names. */
async function readPieces(text: string, options: Parameters<typeof readCsv>[1] = {}) {
  const { records } = await readCsv(text, { blockBytes: 1000, ...options });
  expect((await readCsv(text, { blockBytes: 1, ...options })).records).toEqual(records);
  const names = records.map((record) => 'fields' in record && record.fields.BookingClientName);
  return { records: summarise(records), names };
}

const name = 'ServiceId,BookingClientName';

describe('a CSV file as people write them', () => {
  it.each<[string, string, string[], unknown[]?]>([
    ['lack the last line end', `${name}\n5,a\n6,b`, ['2:5', '3:6']],
    ['lack it after a quote', `${name}\n5,a\n6,"b"`, ['2:5', '3:6']],
    ['have a byte order mark before a quoted name', '\uFEFF"ServiceId"\n5\n', ['2:5']],
    ['have U+FEFF elsewhere', `${name}\n5,\uFEFFx\n`, ['2:5'], ['\uFEFFx']],
    [
      'have CRLF, LF and both; a lone CR is an ordinary character',
      `${name}\r\n5,a\n7,c\rd\r\n8,"e\r\nf"\r\n9,g\r\n`,
      ['2:5', '3:7', '4:8', '6:9'],
      ['a', 'c\rd', 'e\nf', 'g'],
    ],
    ['end its lines with CR only', `${name}\r5,"a\rb"\r\r6,c\r`, ['2:5', '5:6'], ['a\nb', 'c']],
    ['end most lines with CR', `sep=,\n${name}\r5,a\r6,b\r`, ['3:5', '4:6'], ['a', 'b']],
    ['have returns in quotes', `${name}\n5,a"b\n6,"c\rd"\n`, ['2:5', '3:6'], ['a"b', 'c\rd']],
    [
      'have blank lines, which are no records but count as lines',
      '\n\r\nServiceId\n\n5\n\r\n\n6\n""\n\n7',
      ['5:5', '8:6', '9:', '11:7'],
    ],
    [
      'have rows of empty cells, which are no records',
      `${name},y\n5,a,b\n , ,\n"",,""\n,\n6,c,d\n,,,,\n`,
      ['2:5', '6:6'],
    ],
    [
      'have end marks after its last line',
      `${name}\r\n5,a\x1ab\r\n6,c\r\n\x1a\x1a`,
      ['2:5', '3:6'],
      ['a\x1ab', 'c'],
    ],
    ['name its delimiter', `"sep=;"\n${name.replace(',', ';')}\n5;a,b\n`, ['3:5'], ['a,b']],
    [
      'have spaces and tabs before its quotes',
      `"ServiceId", "BookingClientName"\r\n5, "Lee, ""A"" B"\n6,\t "a,b"\n 7 , b\n8,="x"\n`,
      ['2:5', '3:6', '4: 7 ', '5:8'],
      ['Lee, "A" B', 'a,b', ' b', '="x"'],
    ],
    [
      'have delimiters, quotes and line ends inside quotes',
      `${name}\n5,"a,""b""\n\nc"\n6,"""\n"""\n7,27"\n`,
      ['2:5', '5:6', '7:7'],
      ['a,"b"\n\nc', '"\n"', '27"'],
    ],
  ])('may %s', async (_, text, records, names) => {
    const read = await readPieces(text);
    expect(read.records).toEqual(records);
    if (names) expect(read.names).toEqual(names);
  });

  it('may have lines above its header', async () => {
    const text = `Bookings of "today\n\n${name}\n5,a\n`;
    expect((await readPieces(text, { skipRows: 2 })).records).toEqual(['4:5']);
    // A line that names the delimiter is one of them.
    expect((await readPieces(`sep=,\n${text}`, { skipRows: 3 })).records).toEqual(['5:5']);
  });

  it.each([';', '\t', '|', ' ', '\\'])('may be delimited by %j, unlike by others', async (delimiter) => {
    const text = `${name}\n5,"a${delimiter}b"\n6,d*e\n`.replaceAll(',', delimiter);
    expect((await readPieces(text, { delimiter })).names).toEqual([`a${delimiter}b`, 'd*e']);
    for (const bad of ['', ',,', '"', '\r', '\0', 'é', '\uFEFF'])
      expect(() => createCsvSource({ file: createLocalDayFile('/x'), delimiter: bad })).toThrow(RangeError);
  });
});

describe('the columns of a CSV file', () => {
  it('are found by the configured names, in any order, trimmed, quoted or not, and else by their own', async () => {
    const columns = { ServiceId: 'Hotel "No"', BookingReferenceId: 'ref' };
    const { records, notices } = await readCsv(
      'ServiceId," Hotel ""No"" ", ref ,ProviderName\nx,5,BR-1,99\n',
      { columns },
    );
    const fields = { ServiceId: '5', BookingReferenceId: 'BR-1', ProviderName: '99' };
    expect(records).toMatchObject([{ fields }]);
    expect(notices).toEqual([]);
    await expectFault(readCsv('serviceid\n5\n'), 'missing-column', /"ServiceId"/);
  });

  it('may be absent if the configuration says so; a column of that name is then ignored', async () => {
    const { records } = await readCsv('ServiceId,ProviderName\n5,x\n', { columns: masterIdOnly });
    for (const record of records) expect('fields' in record && record.fields.ProviderName).toBeUndefined();
  });

  const headerWithout = serviceFields.map((field) => (field === 'CheckInDate' ? 'checkin' : field)).join(',');
  const own = Array.from({ length: 40 }, (_, index) => `own${index}`.padEnd(100, 'x'));
  it.each<[string, SourceColumns, RegExp, RegExp?]>([
    [headerWithout, { CheckInDate: 'arrival' }, /column "arrival" \(for CheckInDate\) is not in the header/],
    [
      headerWithout,
      {},
      /"CheckInDate" is .* which has "ServiceId", .*source\.columns: \{ CheckInDate: false \}/,
    ],
    [
      `ServiceId,${own}`,
      {},
      /"ProviderHotelId", .* are not in .* and 21 more\. .*ProviderHotelId: false, CheckInDate: false/,
      /x{50}/,
    ],
    // The master id cannot be absent.
    [
      `HotelId,${serviceFields.slice(1)}`,
      {},
      /"ServiceId" is .* which has "HotelId", .*Set its name in source\.columns$/,
      /false/,
    ],
    // Without a header the first line is a booking.
    ['5,BR-1,Gast,"Ann ""Canary"""', {}, /"ServiceId" is .* \d columns/, /Ann|Gast|BR-1/],
  ])('must exist otherwise, unlike in %s', async (header, columns, words, without) => {
    const path = join(makeTemporaryFolder(), 'day.csv');
    writeFileSync(path, `${header}\n`);
    // It does not say which fields the file lacks.
    const source = createCsvSource({ file: createLocalDayFile(path), columns });
    const error = await expectFault(readToEnd(source), 'missing-column', words);
    expect(error.message).toContain(path);
    if (without) expect(error.message).not.toMatch(without);
  });

  it('must not occur twice if they are needed', async () => {
    await expectFault(readCsv('ServiceId,a, ServiceId\n5,x,6\n'), 'ambiguous-column', /"ServiceId"/);
    expect(summarise((await readCsv('ServiceId,a,a\n5,x,6\n')).records)).toEqual(['2:5']);
  });
});
