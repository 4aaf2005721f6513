import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isCalendarDay } from '../../../src/booking/business-day.js';
import { checkReviewFile, type FileFault } from '../../../src/review/file/file-check.js';
import { anyFileBooking, fileBooking, fileOf, inBlocks, masterIdColumn } from './file-bookings.js';

const header = `${masterIdColumn},BookingReferenceId,BookingClientName,ProviderName,ProviderHotelId,CheckInDate,CheckOutDate`;
const goodLine = '100200,BR-1042,Ana Example,hotelbeds,00123,20112026,23112026';

describe('a finished review file', () => {
  it('passes as the writer writes it, in blocks of any size', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyFileBooking, { maxLength: 20 }),
        fc.integer({ min: 1, max: 200 }),
        async (bookings, blockBytes) => {
          const file = fileOf(bookings);
          expect(await check(file, { rows: bookings.length, blockBytes })).toBeUndefined();
        },
      ),
      { numRuns: 500 },
    );
  });

  it('passes as csv-stringify writes it, with all cells quoted or only those that need it', async () => {
    const cells = ['1', 'BR,1', 'Zoë "Z"', 'Nullmann', 'nana', '29022024', '01012025'];
    for (const quoted of [false, true]) {
      const file = Buffer.from(stringify([header.split(','), cells], { quoted }));
      expect(await check(file, { rows: 1 })).toBeUndefined();
    }
  });

  it('passes with empty cells where they are allowed, but not without a service id', async () => {
    const allowed = { rows: 2, mayBeEmpty: true };
    expect(await checkText(`${header}\n7,,,,,,\n8,R,,P,H,20112026,\n`, allowed)).toBeUndefined();
    expect(await checkText(`${header}\n7,,,,,,\n,R,N,P,H,20112026,\n`, allowed)).toEqual({
      code: 'blank-cell',
      row: 2,
      column: masterIdColumn,
    });
  });

  it.each([
    ['a blank', '7,R, ,P,H,20112026,21112026', { code: 'blank-cell', column: 'BookingClientName' }],
    ['null', '7,R,N,null,H,20112026,21112026', { code: 'reads-as-null', column: 'ProviderName' }],
    ['no date', '7,R,N,P,H,31112026,', { code: 'invalid-date', column: 'CheckInDate' }],
    ['too few cells', '7,,,,,', { code: 'wrong-cell-count' }],
  ])('does not pass with %s where empty cells are allowed', async (_, line, fault) => {
    expect(await checkText(`${header}\n${line}\n`, { rows: 1, mayBeEmpty: true })).toEqual({
      ...fault,
      row: 1,
    });
  });

  it('passes with a header only, if that is expected', async () => {
    expect(await checkText(`${header}\n`, { rows: 0 })).toBeUndefined();
  });

  it.each<[string, string, FileFault]>([
    ['is empty', '', { code: 'wrong-header', row: 0 }],
    ['has no line end after its header', header, { code: 'unterminated-line', row: 0 }],
    ['has no header', `${goodLine}\n`, { code: 'wrong-header', row: 0, column: masterIdColumn }],
    [
      'has a column in another case',
      `${header.replace('ProviderName', 'providerName')}\n${goodLine}\n`,
      { code: 'wrong-header', row: 0, column: 'ProviderName' },
    ],
    ['has a column too many', `${header},More\n`, { code: 'wrong-header', row: 0 }],
    ['has a column too few', `${header.replace(',CheckOutDate', '')}\n`, { code: 'wrong-header', row: 0 }],
    [
      'has two columns swapped',
      `${header.replace('CheckInDate,CheckOutDate', 'CheckOutDate,CheckInDate')}\n`,
      { code: 'wrong-header', row: 0, column: 'CheckInDate' },
    ],
    ['begins with a byte order mark', `\ufeff${header}\n`, { code: 'byte-order-mark', row: 0 }],
    [
      'ends its lines with CRLF',
      `${header}\r\n${goodLine}\r\n`,
      { code: 'control-character', row: 0, column: 'CheckOutDate' },
    ],
  ])('is not sent when it %s', async (_, text, fault) => {
    expect(await checkText(text, { rows: 1 })).toEqual(fault);
  });

  it.each<[string, string, Omit<FileFault, 'row'>]>([
    ['is blank', '', { code: 'wrong-cell-count' }],
    ['has six cells', '1,R,N,P,H,20112026', { code: 'wrong-cell-count' }],
    ['has eight cells', `${goodLine},`, { code: 'wrong-cell-count' }],
    ['has no service id', ',R,N,P,H,20112026,21112026', { code: 'blank-cell', column: masterIdColumn }],
    ...['0', '01', '-1', '1.0', '1e3', ' 1', '9007199254740992', '99999999999999999999', '١', 'x'].map(
      (id): [string, string, Omit<FileFault, 'row'>] => [
        `has ${id} for a service id`,
        `${id},R,N,P,H,20112026,21112026`,
        { code: 'invalid-service-id', column: masterIdColumn },
      ],
    ),
    ...[
      ' ',
      '\u00a0',
      '\u3000\u2003',
      '\ufeff',
      '" "',
      '""',
      '\u205f \u1680\u202f',
      ...'\u1680\u2000\u200a\u202f\u205f',
    ].map((blank): [string, string, Omit<FileFault, 'row'>] => [
      `has a blank name ${JSON.stringify(blank)}`,
      `1,R,${blank},P,H,20112026,21112026`,
      { code: 'blank-cell', column: 'BookingClientName' },
    ]),
    ...[
      'null',
      'NULL',
      'Null',
      'none',
      'NaN',
      'undefined',
      'UNDEFINED',
      '"null"',
      ' null',
      '\u3000nan\u00a0',
    ].map((word): [string, string, Omit<FileFault, 'row'>] => [
      `has the provider ${JSON.stringify(word)}`,
      `1,R,N,${word},H,20112026,21112026`,
      { code: 'reads-as-null', column: 'ProviderName' },
    ]),
    ['has null for a date', '1,R,N,P,H,null,21112026', { code: 'reads-as-null', column: 'CheckInDate' }],
    ...[
      '2026-11-20',
      '31112026',
      '29022026',
      '29021900',
      '00112026',
      '20132026',
      '20110000',
      '2011202',
      '020112026',
      '20 12026',
    ].map((date): [string, string, Omit<FileFault, 'row'>] => [
      `has ${date} for a date`,
      `1,R,N,P,H,20112026,${date}`,
      { code: 'invalid-date', column: 'CheckOutDate' },
    ]),
    [
      'has a quote inside a bare cell',
      '1,R,A "B" C,P,H,20112026,21112026',
      { code: 'malformed-quotes', column: 'BookingClientName' },
    ],
    [
      'has a cell that continues after its quotes',
      '1,R,"A"B,P,H,20112026,21112026',
      { code: 'malformed-quotes', column: 'BookingClientName' },
    ],
    [
      'has an unclosed quote',
      '1,R,"A,P,H,20112026,21112026',
      { code: 'malformed-quotes', column: 'BookingClientName' },
    ],
    [
      'has a line end inside quotes',
      '1,R,"A\nB",P,H,20112026,21112026',
      { code: 'malformed-quotes', column: 'BookingClientName' },
    ],
    ...['\0', '\t', '\r', '\x1b', '\x7f', '\x80', '\x85', '\x9f', '\u2028', '\u2029'].map(
      (character): [string, string, Omit<FileFault, 'row'>] => [
        `has the control character ${JSON.stringify(character)}`,
        `1,R,N,P,"H${character}",20112026,21112026`,
        { code: 'control-character', column: 'ProviderHotelId' },
      ],
    ),
  ])('is not sent when a row %s', async (_, line, fault) => {
    const text = `${header}\n${goodLine}\n${line}\n${goodLine}\n`;
    for (const blockBytes of [1, 64 * 1024])
      expect(await checkText(text, { rows: 3, blockBytes })).toEqual({ row: 2, ...fault });
  });

  it.each([
    ['a lone byte of a character', [0xc3]],
    ['a byte that begins no character', [0xff]],
    ['a continuation without a beginning', [0xa4]],
    ['an overlong form', [0xc0, 0xaf]],
    ['an overlong form of three bytes', [0xe0, 0x80, 0xaf]],
    ['an overlong form of four bytes', [0xf0, 0x80, 0x80, 0xaf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['a code point beyond the last', [0xf4, 0x90, 0x80, 0x80]],
    ['Windows-1252', [...Buffer.from('Jos\xe9', 'latin1')]],
  ])('is not sent when it holds %s', async (_, bytes) => {
    const file = Buffer.concat([
      Buffer.from(`${header}\n1,R,N`),
      Buffer.from(bytes),
      Buffer.from(',P,H,20112026,21112026\n'),
    ]);
    const fault = { code: 'not-utf8', row: 1, column: 'BookingClientName' };
    expect(await check(file, { rows: 1 })).toEqual(fault);
  });

  it('fails when its last line is cut off anywhere', async () => {
    const file = fileOf([fileBooking(), fileBooking({ bookingClientName: 'Doe, Zoë' })]);
    for (let cut = 1; cut < goodLine.length; cut += 1)
      expect(await check(file.subarray(0, -cut), { rows: 2 })).toEqual({ code: 'unterminated-line', row: 2 });
  });

  it('fails with other rows or other bytes than recorded', async () => {
    const file = fileOf([fileBooking(), fileBooking()]);
    expect(await check(file, { rows: 3 })).toEqual({ code: 'wrong-row-count', row: 2 });
    expect(await check(file, { rows: 1 })).toEqual({ code: 'wrong-row-count', row: 2 });
    const sha256 = createHash('sha256').update('something else').digest('hex');
    expect(await check(file, { rows: 2, sha256 })).toEqual({ code: 'wrong-checksum', row: 2 });
  });

  it('fails when a line never ends, and is not read further', async () => {
    let blocks = 0;
    async function* endless() {
      yield Buffer.from(`${header}\n1,R,`);
      for (;;) {
        blocks += 1;
        yield Buffer.alloc(1024 * 1024, 'x');
      }
    }
    const fault = await checkReviewFile(endless(), { masterIdColumn, rows: 1, sha256: '' });
    expect(fault).toEqual({ code: 'line-too-long', row: 1 });
    expect(blocks).toBeLessThan(20);
  });

  it('is judged like by csv-parse and the plain rules, whatever happened to its bytes', async () => {
    const anyMutation = fc.record({
      at: fc.nat(),
      removed: fc.nat({ max: 2 }),
      added: fc.oneof(
        fc.constantFrom('', '"', '""', ',', '\n', '\r\n', ' ', '0', 'null', '\u00a0', '\u0085'),
        fc.string({ unit: 'binary', maxLength: 2 }),
      ),
    });
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyFileBooking, { minLength: 1, maxLength: 3 }),
        fc.array(anyMutation, { maxLength: 2 }),
        async (bookings, mutations) => {
          let file = fileOf(bookings);
          for (const { at, removed, added } of mutations) {
            const place = at % file.length;
            file = Buffer.concat([
              file.subarray(0, place),
              Buffer.from(added),
              file.subarray(place + removed),
            ]);
          }
          const rows = countGoodRows(file);
          const fault = await check(file, { rows: rows ?? 0 });
          if (fault) refused += 1;
          expect(fault === undefined).toBe(rows !== undefined);
        },
      ),
      { numRuns: 3_000 },
    );
    expect(refused).toBeGreaterThan(500);
  });

  it('rethrows errors of its input', async () => {
    const failure = new Error('the disk is gone');
    async function* failing() {
      yield Buffer.from(header);
      throw failure;
    }
    await expect(checkReviewFile(failing(), { masterIdColumn, rows: 0, sha256: '' })).rejects.toBe(failure);
  });
});

interface Expectation {
  readonly rows: number;
  readonly sha256?: string;
  readonly blockBytes?: number;
  readonly mayBeEmpty?: boolean;
}

function check(
  file: Buffer,
  { sha256, blockBytes, ...expected }: Expectation,
): Promise<FileFault | undefined> {
  const actual = createHash('sha256').update(file).digest('hex');
  return checkReviewFile(inBlocks(file, blockBytes), {
    masterIdColumn,
    sha256: sha256 ?? actual,
    ...expected,
  });
}

function checkText(text: string, expected: Expectation): Promise<FileFault | undefined> {
  return check(Buffer.from(text), expected);
}

/** How many bookings a file contains, according to libraries and regular expressions; undefined for a bad one. */
function countGoodRows(file: Buffer): number | undefined {
  const text = file.toString();
  if (!isUtf8(file) || !text.endsWith('\n') || /(?!\n)[\p{Cc}\u2028\u2029]/u.test(text)) return undefined;
  try {
    const [first = [], ...rows] = parse(text, { record_delimiter: '\n', bom: false }) as string[][];
    const isGood = first.join() === header && rows.every(isGoodRow);
    return isGood ? rows.length : undefined;
  } catch {
    return undefined;
  }
}

function isGoodRow(cells: readonly string[]): boolean {
  const [id = '', , , , , checkIn = '', checkOut = ''] = cells;
  return (
    cells.length === 7 &&
    cells.every((cell) => cell.trim() !== '' && !cell.includes('\n')) &&
    !cells.some((cell) => ['null', 'none', 'undefined', 'nan'].includes(cell.trim().toLowerCase())) &&
    /^[1-9][0-9]*$/.test(id) &&
    Number.isSafeInteger(Number(id)) &&
    [checkIn, checkOut].every(
      (date) =>
        isCalendarDay(date.replace(/^([0-9]{2})([0-9]{2})([0-9]{4})$/, '$3-$2-$1')) && date.length === 8,
    )
  );
}
