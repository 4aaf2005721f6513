import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isCalendarDay } from '../../../src/booking/business-day.js';
import { checkReviewFile, type FileFault } from '../../../src/review/file/file-check.js';
import { anyFileBooking, fileBooking, fileOf, inBlocks, masterIdColumn } from './file-bookings.js';

const header = `${masterIdColumn},BookingReferenceId,BookingClientName,ProviderName,ProviderHotelId,CheckInDate,CheckOutDate`;
const goodLine = '100200,BR-1042,Ana Example,hotelbeds,00123,20112026,23112026';

describe('a finished review file', () => {
  it('passes with empty cells where they are allowed, but not without a service id, nor with others that are wrong', async () => {
    const allowed = { rows: 2, mayBeEmpty: true };
    expect(await checkText(`${header}\n7,,,,,,\n8,R,,P,H,20112026,\n`, allowed)).toBeUndefined();
    for (const [line, code, column] of [
      [',R,N,P,H,20112026,', 'blank-cell', masterIdColumn],
      ['7,R, ,P,H,20112026,21112026', 'blank-cell', 'BookingClientName'],
      ['7,R,N,null,H,20112026,21112026', 'reads-as-null', 'ProviderName'],
      ['7,R,N,P,H,31112026,', 'invalid-date', 'CheckInDate'],
    ])
      expect(await checkText(`${header}\n7,,,,,,\n${line}\n`, allowed)).toEqual({ code, row: 2, column });
  });

  it.each<[string, FileFault]>([
    ['', { code: 'wrong-header', row: 0 }],
    [header, { code: 'unterminated-line', row: 0 }],
    [`${goodLine}\n`, { code: 'wrong-header', row: 0, column: masterIdColumn }],
    [
      `${header.replace('ProviderName', 'providerName')}\n${goodLine}\n`,
      { code: 'wrong-header', row: 0, column: 'ProviderName' },
    ],
    [`${header},More\n`, { code: 'wrong-header', row: 0 }],
    [`\ufeff${header}\n`, { code: 'byte-order-mark', row: 0 }],
    [`${header}\r\n${goodLine}\r\n`, { code: 'control-character', row: 0, column: 'CheckOutDate' }],
  ])('is not sent with another header: %j', async (text, fault) => {
    expect(await checkText(text, { rows: 1 })).toEqual(fault);
  });

  it.each<[FileFault['code'], string | undefined, readonly string[]]>([
    ['wrong-cell-count', undefined, ['', '1,R,N,P,H,20112026', `${goodLine},`]],
    ['blank-cell', masterIdColumn, [',R,N,P,H,20112026,21112026']],
    ['reads-as-null', 'CheckInDate', ['1,R,N,P,H,null,21112026']],
    [
      'invalid-service-id',
      masterIdColumn,
      ['0', '01', '1.0', '9007199254740992', '١'].map((id) => `${id},R,N,P,H,20112026,21112026`),
    ],
    [
      'blank-cell',
      'BookingClientName',
      ['\u3000\u2003', '\ufeff', '""', ...'\u1680\u2000\u200a\u202f\u205f'].map(
        (blank) => `1,R,${blank},P,H,20112026,21112026`,
      ),
    ],
    [
      'reads-as-null',
      'ProviderName',
      ['Null', 'none', 'NaN', 'undefined', '"null"', '\u3000nan\u00a0'].map(
        (word) => `1,R,N,${word},H,20112026,21112026`,
      ),
    ],
    [
      'invalid-date',
      'CheckOutDate',
      ['2026-11-20', '29022026', '29021900', '20132026', '020112026'].map(
        (date) => `1,R,N,P,H,20112026,${date}`,
      ),
    ],
    [
      'malformed-quotes',
      'BookingClientName',
      ['A "B" C', '"A\nB"'].map((cell) => `1,R,${cell},P,H,20112026,21112026`),
    ],
    [
      'control-character',
      'ProviderHotelId',
      ['\0', '\x1b', '\x7f', '\x80', '\x9f', '\u2029'].map(
        (character) => `1,R,N,P,"H${character}",20112026,21112026`,
      ),
    ],
  ])('is not sent with a row for which it has the code %s in %s', async (code, column, lines) => {
    for (const line of lines) {
      const text = `${header}\n${goodLine}\n${line}\n${goodLine}\n`;
      for (const blockBytes of [1, 64 * 1024])
        expect(await checkText(text, { rows: 3, blockBytes })).toEqual({
          ...{ code, row: 2 },
          ...(column !== undefined && { column }),
        });
    }
  });

  it.each([[0xc3], [0xff], [0xe0, 0x80, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80]])(
    'is not sent when it holds bytes that are not UTF-8: %#',
    async (...bytes) => {
      const file = Buffer.concat([
        Buffer.from(`${header}\n1,R,N`),
        Buffer.from(bytes),
        Buffer.from(',P,H,20112026,21112026\n'),
      ]);
      const fault = { code: 'not-utf8', row: 1, column: 'BookingClientName' };
      expect(await check(file, { rows: 1 })).toEqual(fault);
    },
  );

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
        fc.integer({ min: 1, max: 200 }),
        async (bookings, mutations, blockBytes) => {
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
          const fault = await check(file, { rows: rows ?? 0, blockBytes });
          if (fault) refused += 1;
          expect(fault === undefined).toBe(rows !== undefined);
          // As the writer writes it.
          if (mutations.length === 0) expect(rows).toBe(bookings.length);
        },
      ),
      { numRuns: 800 },
    );
    expect(refused).toBeGreaterThan(130);
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
