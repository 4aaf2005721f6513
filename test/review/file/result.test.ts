import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ResultRow } from '../../../src/review/file/result.js';
import { anyFileBooking, inBlocks, masterIdColumn, readRows, rules } from './file-bookings.js';

const columns = [
  masterIdColumn,
  'BookingReferenceId',
  'BookingClientName',
  'ProviderName',
  'ProviderHotelId',
  'CheckInDate',
  'CheckOutDate',
  'IsCorrectMapping',
];
const header = columns.join(',');
const line = '100200,BR-1042,Ana Example,hotelbeds,00123,20112026,23112026,True';
const row: ResultRow = {
  serviceId: 100200,
  bookingReferenceId: 'BR-1042',
  providerName: 'hotelbeds',
  providerHotelId: '00123',
  isCorrect: true,
};

describe('a result', () => {
  it('is read as the columns of the input and the verdict', async () => {
    const read = await readAll(`${header}\n${line}\n`);
    expect(read.rows).toEqual([row]);
    expect(read.end).toEqual({ rows: 1, malformed: 0, isWhole: true });
    expect(read.fields).toEqual([
      'serviceId',
      'bookingReferenceId',
      'providerName',
      'providerHotelId',
      'checkInDate',
      'checkOutDate',
      'isCorrect',
    ]);
  });

  it('is read in any order of columns, quoted or not, with CRLF and byte order mark, among other columns', async () => {
    const anyShape = fc.record({
      order: fc.shuffledSubarray([...columns.keys()], { minLength: 8 }),
      more: fc.nat({ max: 2 }),
      quoted: fc.boolean(),
      bom: fc.boolean(),
      record_delimiter: fc.constantFrom('\n', '\r\n'),
      blockBytes: fc.integer({ min: 1, max: 300 }),
    });
    const anyComment = fc.string({ unit: fc.constantFrom('a', ' ', ',', '"', '\n', 'ž', '😀') });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(anyFileBooking, fc.boolean(), anyComment)),
        anyShape,
        async (judged, { order, more, blockBytes, ...form }) => {
          const table = judged.map(([booking, isCorrect, comment]) => [
            ...[booking.serviceId, booking.bookingReferenceId, booking.bookingClientName].map(String),
            ...[booking.providerName, booking.providerHotelId, booking.checkInDate, booking.checkOutDate],
            String(isCorrect),
            comment,
          ]);
          const shuffled = [[...columns, 'Comment'], ...table].map((cells) => [
            ...Array.from({ length: more }, () => cells[8]),
            ...order.map((place) => cells[place]),
          ]);
          // With CRLF between records, csv-stringify leaves a lone LF inside a cell without quotes.
          const text = stringify(shuffled, { ...form, quoted_match: '\n' });
          const read = await readAll(text, { blockBytes });
          expect(read.rows).toEqual(
            judged.map(([{ serviceId, bookingReferenceId, providerName, providerHotelId }, isCorrect]) => ({
              ...{ serviceId, bookingReferenceId, providerName, providerHotelId, isCorrect },
            })),
          );
          expect(read.end).toEqual({ rows: judged.length, malformed: 0, isWhole: true });
        },
      ),
      { numRuns: 100 },
    );
  });

  it.each([
    ['Service Mappings Id', 'exactly'],
    ['ServiceId', 'by its JSON name'],
    ['service_mappings_id', 'with underscores'],
    [' serviceMappingsId ', 'with blanks around it'],
  ])('has the master id under %s, %s', async (name) => {
    expect((await readAll(`${name},iscorrect_mapping\n7,no\n`)).rows).toMatchObject([
      { serviceId: 7, isCorrect: false },
    ]);
  });

  it('has the master id under the configured name, before any other', async () => {
    const { rows, ambiguous } = await readAll('ServiceId,Vervotech Id\n1,3\n', { name: 'Vervotech Id' });
    expect(rows[0]?.serviceId).toBe(3);
    expect(ambiguous).toEqual([]);
  });

  it.each([
    ['Id,BookingReferenceId,Is Correct Mapping,IsCorrectMapping\n7,7,true,true\n', 'isCorrect'],
    ['Id,IsCorrectMapping, ProviderHotelId ,ProviderHotelId\n7,true,7,7\n', 'providerHotelId'],
  ] as const)(
    'names the columns of which nobody knows which counts, and has no verdict: %j',
    async (text, field) => {
      const read = await readAll(text, { name: 'Id' });
      const [one = '', other = ''] = text.slice(0, text.indexOf('\n')).split(',').slice(2);
      expect(read.ambiguous).toEqual([`${one.trim()} (column 3)`, `${other} (column 4)`]);
      expect(read.fields).not.toContain(field);
      expect(read.rows).toMatchObject([{ isCorrect: undefined }]);
    },
  );

  it.each([
    [' Yes ', true],
    ['1', true],
    ['false', false],
    ['0', false],
    ['INCORRECT', false],
    ['', undefined],
    ['maybe', undefined],
    ['-1', undefined],
  ])('says %s in its verdict, which means %s', async (written, isCorrect) => {
    const { rows } = await readAll(`ServiceId,IsCorrectMapping\n1,${written}\n`);
    expect(rows[0]?.isCorrect).toBe(isCorrect);
  });

  it('may have fields without a value', async () => {
    const { rows } = await readAll(`${header}\n0, ,x,NULL,undefined,,,\n`);
    expect(Object.values(rows[0] ?? {})).toEqual(Array(5).fill(undefined));
  });

  it('may lack columns, and reports which it has', async () => {
    expect((await readAll('Provider Name,Comment\nx,y\n')).fields).toEqual(['providerName']);
    expect((await readAll('1,2\n3,4\n')).fields).toEqual([]);
  });
});

describe('a result in another form', () => {
  const expected = { rows: [row], end: { rows: 1, malformed: 0, isWhole: true } };
  const usual = `${header}\n${line}\n`;
  const withSeparator = (separator: string) => usual.replaceAll(',', separator);
  const inUnits = (text: string, isBig = false) => {
    const bytes = Buffer.from(text, 'utf16le');
    return isBig ? bytes.swap16() : bytes;
  };

  it.each<[string, string | Buffer]>([
    ['semicolons, and commas in a cell', withSeparator(';').replace('Ana Example', 'Example, Ana, Mrs, Dr')],
    ['a line that states an unusual one, in quotes', `\ufeff"SEP=^"\r\n${withSeparator('^')}`],
    ['a title, a blank line and semicolons', `Result; of 2026\n\nAccount: 7;\n${withSeparator(';')}`],
    ['CR only, and a line feed of the end mark', `${usual.replaceAll('\n', '\r')}\x1a`],
    ['UTF-16, big-endian', inUnits(usual, true)],
    [
      'UTF-16, a title, tabs and CR only',
      inUnits(`\ufeffResult\r${withSeparator('\t').replaceAll('\n', '\r')}`),
    ],
    [
      'formulas that keep ids texts',
      usual.replace('BR-1042', '="BR-1042"').replace('00123', `"=""00123""${'"'}`),
    ],
    ['a formula around the verdict', usual.replace('True', '="True"')],
  ])('is read with %s, in blocks of any size', async (_, content) => {
    for (const blockBytes of [1, 7, 64, 64 * 1024]) {
      const { rows, end } = await readAll(content, { blockBytes });
      expect({ rows, end }).toEqual(expected);
    }
  });

  it('is whole only with its last line end, whatever that is', async () => {
    const texts = [usual.replaceAll('\n', '\r'), usual];
    for (const bytes of texts.flatMap((text) => [Buffer.from(text), inUnits(text), inUnits(text, true)])) {
      expect((await readAll(bytes)).end?.isWhole).toBe(true);
      for (const cut of [1, 2, 3, 4])
        expect((await readAll(bytes.subarray(0, -cut))).end?.isWhole, String(cut)).toBe(false);
    }
    expect((await readAll(`${header}\r`)).end?.isWhole).toBe(false);
  });

  it.each([
    ['hotelbeds', 'Hôtels – «Ñ»', 'utf8'],
    ['hotelbeds', 'Hôtels «Ñ»', 'latin1'],
  ] as const)(
    'is read as UTF-8, or line by line as Windows-1252: %s as %s in %s',
    async (from, to, encoding) => {
      const many = `${usual}${usual.slice(usual.indexOf('\n') + 1).replace(from, to)}`;
      const { rows } = await readAll(Buffer.from(many, encoding));
      expect(rows.map(({ providerName }) => providerName)).toEqual([from, to]);
    },
  );

  it('says in which form it was read', async () => {
    const forms = [
      [usual, { encoding: 'utf-8', delimiter: ',' }],
      [inUnits(withSeparator('\t')), { encoding: 'utf-16le', delimiter: '\t' }],
      [Buffer.from('PK\x03\x04\x00\x01\x02\n'), { container: 'an Excel workbook or an archive' }],
    ] as const;
    for (const [content, form] of forms) expect((await readAll(content)).form).toMatchObject(form);
  });
});

describe('a malformed result', () => {
  it('loses only malformed rows, and counts them', async () => {
    const lines = [
      header,
      lineOf(1),
      '100200,BR-2',
      '1,2,3,4,5,6,7,8,9',
      '1,"B"R,3,4,5,6,7,8',
      lineOf(5),
      '1,"never closed,3,4,5,6,7,8',
      lineOf(7),
      lineOf(8),
      `${lineOf(9)},,`,
      '1,"never closed either,3,4,5,6,7,8',
      lineOf(11).replace('Ana Example', '"Example, Ana"'),
    ];
    const { rows, end } = await readAll(`${lines.join('\n')}\n`);
    expect(numbersOf(rows)).toEqual([1, 5, 7, 8, 9, 11]);
    expect(end).toEqual({ rows: 11, malformed: 5, isWhole: true });
  });

  it('reads at most twenty lines as one record', async () => {
    const readBetween = (count: number) =>
      readAll(`${[header, '1,"opened', ...Array(count).fill('text'), 'closed",3,4,5,6,7,8'].join('\n')}\n`);
    expect(await readBetween(18)).toMatchObject({ rows: [{ serviceId: 1 }], end: { rows: 1, malformed: 0 } });
    expect((await readBetween(19)).end.malformed).toBe(21);
  });

  it.each([
    ['between them', `1,"opened\n${line}\nclosed",3,4,5,6,7,8`, 2],
    [
      'in the line that closes it',
      `1,R,"Ana Example,4,5,6,7,8\n${line.replace('Ana Example', 'Ana Example"')}`,
      1,
    ],
  ])('reads again the rows that a closed quote would hide %s', async (_, lines, malformed) => {
    const { rows, end } = await readAll(`${header}\n${lines}\n`);
    expect(rows).toEqual([row]);
    expect(end.malformed).toBe(malformed);
  });

  it('does not take a header that hides rows', async () => {
    const { end } = await readAll(`${header},"Remark\n${line},x\n${line},y"\n${line},z\n`);
    expect(end.malformed).toBeGreaterThan(0);
  });

  it('may contain bytes that are not UTF-8, and a line without end', async () => {
    const file = Buffer.concat([
      Buffer.from(`${header}\n${lineOf(1)}\n`),
      Buffer.from(`${lineOf(2).replace('Ana', 'Jos\xe9')}\n`, 'latin1'),
      Buffer.alloc(3_000_000, 'x'),
      Buffer.from(`\n${lineOf(4)}\n`),
    ]);
    const { rows, end } = await readAll(file);
    expect(numbersOf(rows)).toEqual([1, 2, 4]);
    expect(end.malformed).toBe(1);
  });
});

it('a result that is still growing is incomplete before its last line end, wherever it is cut', async () => {
  const [first, second] = [`${header}\n`, `${header}\n${line}\n`];
  const whole = `${second}${line.replace('Ana Example', '"Example,\n Ana"')}\n`;
  for (let end = 0; end <= whole.length; end += 1) {
    const text = whole.slice(0, end);
    expect((await readAll(text)).end?.isWhole, text).toBe([first, second, whole].includes(text));
  }
});

function lineOf(number: number): string {
  return line.replace('BR-1042', `BR-${number}`);
}

function numbersOf(rows: readonly ResultRow[]): number[] {
  return rows.map(({ bookingReferenceId = '' }) => Number(bookingReferenceId.slice('BR-'.length)));
}

function readAll(content: string | Buffer, { blockBytes = 64 * 1024, name = masterIdColumn } = {}) {
  return readRows(inBlocks(Buffer.from(content), blockBytes), { ...rules, masterIdColumn: name });
}
