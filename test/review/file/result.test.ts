import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitCells } from '../../../src/review/file/csv.js';
import {
  type ResultPart,
  type ResultReading,
  type ResultRow,
  readResult,
} from '../../../src/review/file/result.js';
import { anyFileBooking, inBlocks, masterIdColumn } from './file-bookings.js';

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
  line: 2,
  serviceId: 100200,
  bookingReferenceId: 'BR-1042',
  providerName: 'hotelbeds',
  providerHotelId: '00123',
  checkInDate: '2026-11-20',
  checkOutDate: '2026-11-23',
  isCorrect: true,
};

describe('a result', () => {
  it('is read as the columns of the input and the verdict', async () => {
    const read = await readAll(`${header}\n${line}\n`);
    expect(read.rows).toEqual([row]);
    expect(read.end).toEqual({ rows: 1, malformed: 0, endsWithLineEnd: true, isWhole: true });
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
          expect(read.malformed).toEqual([]);
          expect(read.rows.map(({ line: _, ...fields }) => fields)).toEqual(
            judged.map(([{ bookingClientName: _, ...booking }, isCorrect]) => ({ ...booking, isCorrect })),
          );
          expect(read.end).toMatchObject({ rows: judged.length, isWhole: true });
        },
      ),
      { numRuns: 300 },
    );
  });

  it('gives the line on which a row starts', async () => {
    const text = `Comment,${header}\r\n\r\n"two\r\nlines",${line}\r\n,,,,,,,,\r\nx,${line}`;
    const { rows, malformed } = await readAll(text);
    expect(rows.map((read) => read.line)).toEqual([3, 6]);
    expect(malformed).toEqual([]);
  });

  it.each([
    ['Service Mappings Id', 'exactly'],
    ['ServiceId', 'by its JSON name'],
    ['SERVICE MAPPINGS ID', 'in capitals'],
    ['service_mappings_id', 'with underscores'],
    [' serviceMappingsId ', 'with blanks around it'],
  ])('has the master id under %s, %s', async (name) => {
    expect((await readAll(`${name},iscorrect_mapping\n7,no\n`)).rows).toMatchObject([
      { serviceId: 7, isCorrect: false },
    ]);
  });

  it('has the master id under the configured name, before any other', async () => {
    const { rows } = await readAll('ServiceId,vervotech id,Vervotech Id\n1,2,3\n', { name: 'Vervotech Id' });
    expect(rows[0]?.serviceId).toBe(3);
  });

  it('is read by the exact name if another one is similar', async () => {
    const { rows } = await readAll('providername,ProviderName,PROVIDERNAME\na,b,c\n');
    expect(rows[0]?.providerName).toBe('b');
  });

  it.each([
    ['true', true],
    ['TRUE', true],
    [' Yes ', true],
    ['1', true],
    ['Correct', true],
    ['false', false],
    ['False', false],
    ['no', false],
    ['0', false],
    ['INCORRECT', false],
    ['', undefined],
    ['maybe', undefined],
    ['null', undefined],
    ['-1', undefined],
  ])('says %s in its verdict, which means %s', async (written, isCorrect) => {
    const { rows } = await readAll(`ServiceId,IsCorrectMapping\n1,${written}\n`);
    expect(rows[0]?.isCorrect).toBe(isCorrect);
  });

  it.each([
    ['20112026', '2026-11-20'],
    ['2026-11-20', '2026-11-20'],
    ['20/11/2026', '2026-11-20'],
    ['20-11-2026', '2026-11-20'],
    ['2026-11-20T00:00:00', '2026-11-20'],
    ['20/11/2026 00:00:00', '2026-11-20'],
    ['11/20/2026', undefined],
    ['31112026', undefined],
    ['2026-02-30', undefined],
    ['', undefined],
    ['soon', undefined],
  ])('has a date written %s, which is %s', async (written, date) => {
    const { rows } = await readAll(`ServiceId,CheckInDate\n1,${written}\n1,${written}\n`);
    expect(rows.map(({ checkInDate }) => checkInDate)).toEqual([date, date]);
  });

  it('may have fields without a value', async () => {
    const { rows } = await readAll(`${header}\n0, ,x,NULL,undefined,,,\n`);
    expect(Object.values(rows[0] ?? {})).toEqual([2, ...Array(7).fill(undefined)]);
  });

  it('may lack columns, and reports which it has', async () => {
    expect((await readAll('Provider Name,Comment\nx,y\n')).fields).toEqual(['providerName']);
    expect((await readAll('1,2\n3,4\n')).fields).toEqual([]);
  });
});

describe('a result in another form', () => {
  const expected = { rows: [row], end: { rows: 1, malformed: 0, endsWithLineEnd: true, isWhole: true } };
  const usual = `${header}\n${line}\n`;
  const withSeparator = (separator: string) => usual.replaceAll(',', separator);
  const inUnits = (text: string, isBig = false) => {
    const bytes = Buffer.from(text, 'utf16le');
    return isBig ? bytes.swap16() : bytes;
  };

  it.each<[string, string | Buffer, number]>([
    ['semicolons', withSeparator(';'), 2],
    ['tabs', withSeparator('\t'), 2],
    ['vertical bars', withSeparator('|'), 2],
    [
      'semicolons, and commas in a cell',
      withSeparator(';').replace('Ana Example', 'Example, Ana, Mrs, Dr'),
      2,
    ],
    ['semicolons and quotes', withSeparator(';').replace('Ana Example', `"Example; ""Ana"" x"`), 2],
    ['a line that states the separator', `sep=;\n${withSeparator(';')}`, 3],
    ['a line that states an unusual one, in quotes', `\ufeff"SEP=^"\r\n${withSeparator('^')}`, 3],
    ['a title', `Result of 20 November 2026\n${usual}`, 3],
    ['a title, a blank line and semicolons', `Result; of 2026\n\nAccount: 7;\n${withSeparator(';')}`, 5],
    ['CR only', usual.replaceAll('\n', '\r'), 2],
    ['CR only, and a line feed of the end mark', `${usual.replaceAll('\n', '\r')}\x1a`, 2],
    ['an end mark', `${usual}\x1a`, 2],
    ['UTF-16', inUnits(usual), 2],
    ['UTF-16 with a byte order mark', inUnits(`\ufeff${usual.replace('Ana', 'Žižka 山田')}`), 2],
    ['UTF-16, big-endian', inUnits(usual, true), 2],
    [
      'UTF-16, big-endian, a byte order mark and CRLF',
      inUnits(`\ufeff${usual.replaceAll('\n', '\r\n')}`, true),
      2,
    ],
    [
      'UTF-16, a title, tabs and CR only',
      inUnits(`\ufeffResult\r${withSeparator('\t').replaceAll('\n', '\r')}`),
      3,
    ],
    [
      'formulas that keep ids texts',
      usual.replace('BR-1042', '="BR-1042"').replace('00123', `"=""00123""${'"'}`),
      2,
    ],
    ['a formula around the verdict', usual.replace('True', '="True"'), 2],
  ])('is read with %s, in blocks of any size', async (_, content, start) => {
    for (const blockBytes of [1, 7, 64, 64 * 1024]) {
      const { rows, end, malformed } = await readAll(content, { blockBytes });
      expect({ rows, end }).toEqual({ ...expected, rows: [{ ...row, line: start }] });
      expect(malformed).toEqual([]);
    }
  });

  it('is whole only with its last line end, whatever that is', async () => {
    for (const text of [usual.replaceAll('\n', '\r'), usual])
      for (const bytes of [Buffer.from(text), inUnits(text), inUnits(text, true)]) {
        expect((await readAll(bytes)).end?.isWhole).toBe(true);
        for (const cut of [1, 2, 3, 4])
          expect((await readAll(bytes.subarray(0, -cut))).end?.isWhole, String(cut)).toBe(false);
      }
    expect((await readAll(`${header}\r`)).end?.isWhole).toBe(false);
  });

  it('is read if most lines end with CR, whatever the first or the last one ends with', async () => {
    const blank = '\r'.repeat(3);
    const old = `${usual.replaceAll('\n', '\r').replace(/\r$/, '')}${blank}`;
    for (const text of [`sep=,\n${old}`, `${old}\n`, old.replace(/\r$/, '\r\n')])
      expect((await readAll(text)).rows).toMatchObject([{ bookingReferenceId: row.bookingReferenceId }]);
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

  it('is read with the first line as its header if no line is known', async () => {
    const { fields, end } = await readAll(Array.from({ length: 30 }, (_, at) => `a${at};b\n`).join(''));
    expect(fields).toEqual([]);
    expect(end).toMatchObject({ rows: 29, malformed: 0 });
  });
});

describe('a malformed result', () => {
  it('loses only malformed rows, which it reports by line', async () => {
    const lines = [
      header,
      line,
      '100200,BR-1',
      '1,2,3,4,5,6,7,8,9',
      '1,"B"R,3,4,5,6,7,8',
      line,
      '1,"never closed,3,4,5,6,7,8',
      line,
      line,
      `${line},,`,
      '1,"never closed either,3,4,5,6,7,8',
      line.replace('Ana Example', '"Example, Ana"'),
    ];
    const { rows, malformed, end } = await readAll(`${lines.join('\n')}\n`);
    expect(rows.map((read) => read.line)).toEqual([2, 6, 8, 9, 10, 12]);
    expect(malformed).toEqual([
      { line: 3, reason: 'wrong-cell-count' },
      { line: 4, reason: 'wrong-cell-count' },
      { line: 5, reason: 'malformed-quotes' },
      { line: 7, reason: 'malformed-quotes' },
      { line: 11, reason: 'malformed-quotes' },
    ]);
    expect(end).toEqual({ rows: 11, malformed: 5, endsWithLineEnd: true, isWhole: true });
  });

  it('loses one row to an unclosed quote, wherever it is and for blocks of any size', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: 60 }),
        fc.nat({ max: 60 }),
        fc.integer({ min: 1, max: 500 }),
        async (before, behind, blockBytes) => {
          const bad = '1,"never closed,3,4,5,6,7,8';
          const lines = [header, ...Array(before).fill(line), bad, ...Array(behind).fill(line)];
          const { rows, malformed } = await readAll(`${lines.join('\n')}\n`, { blockBytes });
          expect(rows).toHaveLength(before + behind);
          expect(malformed).toEqual([{ line: before + 2, reason: 'malformed-quotes' }]);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('reads at most twenty lines as one record, however well they fit together', async () => {
    const readBetween = (count: number) =>
      readAll(`${[header, '1,"opened', ...Array(count).fill(line), 'closed",3,4,5,6,7,8'].join('\n')}\n`);
    expect(await readBetween(18)).toMatchObject({ rows: [{ line: 2 }], malformed: [] });
    const { rows, malformed } = await readBetween(19);
    expect(rows).toHaveLength(19);
    expect(malformed).toEqual([
      { line: 2, reason: 'malformed-quotes' },
      { line: 22, reason: 'wrong-cell-count' },
    ]);
  });

  it('may contain bytes that are not UTF-8, and a line without end', async () => {
    const file = Buffer.concat([
      Buffer.from(`${header}\n${line}\n`),
      Buffer.from(`${line.replace('Ana', 'Jos\xe9')}\n`, 'latin1'),
      Buffer.alloc(3_000_000, 'x'),
      Buffer.from(`\n${line}\n`),
    ]);
    const { rows, malformed } = await readAll(file);
    expect(rows.map((read) => read.line)).toEqual([2, 3, 5]);
    expect(malformed).toEqual([{ line: 4, reason: 'too-long' }]);
  });

  it('never keeps a cell of a malformed row', async () => {
    const { malformed } = await readAll(`${header}\n1,"Ana" Secret,3\n`);
    expect(JSON.stringify(malformed)).not.toContain('Secret');
  });
});

describe('a result that is still growing', () => {
  const whole = `${header}\n${line}\n${line.replace('Ana Example', '"Example,\n Ana"')}\n`;

  it('is incomplete before its last line end, wherever it is cut', async () => {
    for (let cut = 1; cut < whole.length; cut += 1) {
      const { end, rows } = await readAll(whole.slice(0, -cut));
      const endsARecord = [`${header}\n`, `${header}\n${line}\n`].includes(whole.slice(0, -cut));
      expect(end?.isWhole, whole.slice(0, -cut)).toBe(endsARecord);
      expect(rows.length).toBeLessThanOrEqual(2);
    }
    expect((await readAll(whole)).end).toMatchObject({ rows: 2, isWhole: true });
  });

  it('reports whether it ends with a line end, and whether inside quotes', async () => {
    expect((await readAll(`${header}\n${line}`)).end).toEqual({
      rows: 1,
      malformed: 0,
      endsWithLineEnd: false,
      isWhole: false,
    });
    expect((await readAll(`${header}\n1,"inside\n`)).end).toEqual({
      rows: 1,
      malformed: 1,
      endsWithLineEnd: true,
      isWhole: false,
    });
  });

  it('is incomplete while it is empty', async () => {
    for (const text of ['', '\n', '\ufeff'])
      expect((await readAll(text)).end).toEqual({
        rows: 0,
        malformed: 0,
        endsWithLineEnd: false,
        isWhole: false,
      });
  });
});

describe('cells', () => {
  it('are split like csv-parse splits them, where it can', () => {
    const anyRecord = fc.string({ unit: fc.constantFrom('"', '""', ',', 'a', ' ', 'ž') });
    fc.assert(
      fc.property(anyRecord, (record) => {
        let expected: string[] | undefined;
        try {
          [expected = ['']] = parse(record, { relax_quotes: false }) as string[][];
        } catch {
          // A quote inside a bare cell is an error there and a character here.
        }
        if (expected) expect(splitCells(record)).toEqual(expected);
        else if (!/(^|,)[^",][^,]*"/.test(record)) expect(splitCells(record)).toMatch(/^open|malformed$/);
      }),
      { numRuns: 5_000 },
    );
  });
});

async function readAll(
  content: string | Buffer,
  {
    blockBytes = 64 * 1024,
    name = masterIdColumn,
    reading = {},
  }: { blockBytes?: number; name?: string; reading?: Partial<ResultReading> } = {},
) {
  const parts: ResultPart[] = [];
  const bytes = inBlocks(Buffer.from(content), blockBytes);
  for await (const part of readResult(bytes, { masterIdColumn: name, ...reading })) parts.push(part);
  const rowParts = parts.filter((part) => part.kind === 'rows');
  const last = parts.at(-1);
  return {
    fields: parts.find((part) => part.kind === 'header')?.fields,
    form: parts.find((part) => part.kind === 'header')?.form,
    rows: rowParts.flatMap((part) => part.rows),
    malformed: rowParts.flatMap((part) => part.malformed),
    end: last?.kind === 'end' ? last.end : undefined,
  };
}
