import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { serviceFields } from '../../../src/booking/booking.js';
import { SourceError } from '../../../src/booking/source.js';
import { createCsvDecoder } from '../../../src/sources/csv/csv-source.js';
import { columnsIn } from '../../support/source-columns.js';
import { decodeAll, summarise } from '../reading.js';

/** The records, or the fault and its line. */
function outcome(
  text: string,
  { blockBytes = 4096, recordLimit = 1_000_000 } = {},
): readonly string[] | string {
  const options = { path: 'day.csv', columns: columnsIn(text), delimiter: ',', recordLimit };
  try {
    return summarise(decodeAll(createCsvDecoder(options), Buffer.from(text), blockBytes));
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    expect(error.message).not.toContain('Canary');
    return `${error.fault} ${/line (\d+)/.exec(error.message)?.[1]}`;
  }
}

/** A day of rows, each `ServiceId,BookingClientName,ProviderName` unless it is written out. */
const day = (rows: readonly string[], header = 'ServiceId,BookingClientName,ProviderName') =>
  `${[header, ...rows].join('\n')}\n`;

describe('a quote that is not closed in its row', () => {
  it.each([
    ['before text that is quoted', ['1,a,N', '2,"Canary,N', '3,b,N', '4,"c, d",N', '5,e,N']],
    ['at the end of a cell', ['1,a,N', '2,"Canary,N', '3,b,N', '4,c",N', '5,e,N']],
    ['in the next row', ['1,a,N', '2,"Canary,N', '3,b",N', '4,c,N', '5,e,N']],
    ['before a cell that begins with a comma', ['1,a,N', '2,"Canary,N', '3,",b",N', '4,c,N', '5,e,N']],
    [
      'where every cell is quoted',
      ['"1","a","N"', '"2","Canary","N', '"3","b","N"', '"4","c","N"', '"5","e","N"'],
    ],
    ['where a cell is empty', ['1,a,N', '2,"Canary,N', '3,"",N', '4,c",N', '5,e,N']],
    ['in the first cell', ['1,a,N', '"2,Canary,N', '3,b,N', '4,c",N', '5,e,N']],
    ['with blanks before quotes', ['1,a,N', '2, "Canary,N', '3, "b, c",N', '4,d,N', '5,e,N']],
    ['by the last line, which has no end', ['1,a,N', '2,"Canary,N', '3,b,N', '4,c,N', '5,e",N'], true],
  ])('and is closed %s costs its own line only', (_, rows, isUnended = false) => {
    const text = isUnended ? day(rows).trimEnd() : day(rows);
    for (const written of [text, text.replaceAll('\n', '\r\n'), text.replaceAll('\n', '\r')])
      for (const blockBytes of [1, 7, 4096])
        expect(outcome(written, { blockBytes })).toEqual(['2:1', '3!unclosed-quote', '4:3', '5:4', '6:5']);
  });

  it.each([
    ['ProviderName,BookingClientName,ServiceId', ['N,"Canary,1', 'N,a",2', 'N,b,3']],
    ['BookingClientName,ServiceId,ProviderName', ['"Canary,1,N', 'a",2,N', 'b,3,N']],
  ])('costs its own line only where the columns are %s', (header, rows) => {
    expect(outcome(day(rows, header))).toEqual(['2!unclosed-quote', '3:2', '4:3']);
  });

  it.each([
    ['a row with too few cells', '7,Canary'],
    ['a row with broken quotes', '7,"Canary"x,N'],
    ['a quote that is never closed', '7,"Canary,N'],
    ['another such quote', '7,"Canary,N\n8,a",N'],
    ['a record that is too long', `7,${'x'.repeat(300)},N`],
  ])('fails the day if %s follows', (_, row) => {
    const text = day(['1,a,N', '2,"Canary,N', '3,b",N', '4,c,N', row, '9,e,N']);
    for (const blockBytes of [1, 7, 4096])
      expect(outcome(text, { blockBytes, recordLimit: 200 })).toBe('unterminated-quote 3');
  });

  it('fails the day if it is closed further away than a record may reach', () => {
    const rows = Array.from({ length: 50 }, (_, index) => `${index + 2},a,N`);
    const text = day(['1,"Canary,N', ...rows, '99,z",N']);
    for (const blockBytes of [1, 7, 4096])
      for (const recordLimit of [60, 100])
        expect(outcome(text, { blockBytes, recordLimit })).toBe('unterminated-quote 2');
    const late = day([`1,"Canary\n${'x'.repeat(300)}\ny,N`, ...rows, '99,z",N']);
    for (const blockBytes of [1, 7, 4096])
      expect(outcome(late, { blockBytes, recordLimit: 100 })).toBe('unterminated-quote 2');
  });

  it('fails the day in the header, though it makes columns of the header one', () => {
    const header = 'ServiceId,BookingClientName,ProviderName,"Remark,Extra';
    for (const rows of [['1,a,N,x,y"'], ['1,a,N,x,y', '2,b,N,z",y'], ['1,a,N,x,y"', '2,b,N,z,y']])
      for (const blockBytes of [1, 4096])
        expect(outcome(day(rows, header), { blockBytes })).toBe('unterminated-quote 1');
  });

  it('fails the day if a remark quotes a booking: nobody can tell it from a swallowed one', () => {
    const rows = ['1,"Canary writes:', '2,a,N', 'Yours,', 'Canary",N', '3,b,N'];
    expect(outcome(day(rows))).toBe('unterminated-quote 2');
  });
});

describe('a cell of several lines', () => {
  it.each([
    ['a remark', '1,"a\nb\n\nc",N'],
    ['a remark with commas', '1,"Dear sir,\nMain Street, 12, Madrid,\nSpain",N'],
    ['a remark with quotes', '1,"a ""b""\n""c"" d",N'],
    ['a number in it', '1,"a\n2\n3",N'],
    ['a list that lacks a cell', '1,"2,a\n3,b\n4",N'],
    ['two remarks', '1,"a\nb","c\nd"'],
  ])('is read as it is: %s', (_, row) => {
    expect(outcome(day([row, '9,z,N']))).toEqual(['2:1', `${2 + row.split('\n').length}:9`]);
  });

  it('is read as it is before the other columns, too', () => {
    const rows = ['"a\nb",1,N', '"c, d\ne",2,N', '"f\ng, h",3,N'];
    expect(outcome(day(rows, 'BookingClientName,ServiceId,ProviderName'))).toEqual(['2:1', '4:2', '6:3']);
  });

  it('may be the header', () => {
    expect(outcome(day(['1,a,N,x'], 'ServiceId,BookingClientName,ProviderName,"My\nremark"'))).toEqual([
      '3:1',
    ]);
  });
});

describe('a day with one broken quote', () => {
  const name = fc.constantFrom('Ana', 'Gil, Ana', 'Ana "la" Gil', '"Ana"', ', Ana', 'Ana\nGil', '\nAna', '');
  const remark = fc.constantFrom(
    '',
    'quiet',
    'sea view, please',
    'a\nb',
    'a,\nb,\nc',
    '"late"\n',
    'twin "beds"',
  );
  const row = fc.record({ name, remark });
  const styles = fc.record({ quoted: fc.boolean(), record_delimiter: fc.constantFrom('\n', '\r\n') });
  const orders = fc.shuffledSubarray([...serviceFields, 'Remark'], { minLength: serviceFields.length + 1 });

  it('loses no row without a word, wherever it is', () => {
    let read = 0;
    fc.assert(
      fc.property(
        fc.array(row, { minLength: 1, maxLength: 12 }),
        orders,
        styles,
        fc.nat(),
        fc.boolean(),
        fc.integer({ min: 1, max: 64 }),
        (rows, order, style, at, isMissing, blockBytes) => {
          const fields = rows.map(({ name, remark }, index) => ({
            ServiceId: `${1000 + index}`,
            BookingReferenceId: `BK-${index}`,
            BookingClientName: name,
            ProviderName: 'NorthStar',
            ProviderHotelId: `00${index}`,
            CheckInDate: '2027-02-02',
            CheckOutDate: '2027-02-05',
            Remark: remark,
          }));
          const write = (records: readonly object[], header: boolean) =>
            stringify([...records], { ...style, columns: order, header, quoted_match: /[\r\n]/ });
          const text = write(fields, true);
          const start = write([], true).length;
          const quotes = [...text.matchAll(/"/g)].map(({ index }) => index).filter((index) => index >= start);
          fc.pre(!isMissing || quotes.length > 0);
          const place = isMissing ? (quotes[at % quotes.length] ?? 0) : start + (at % (text.length - start));
          const broken =
            text.slice(0, place) + (isMissing ? '' : '"') + text.slice(isMissing ? place + 1 : place);
          const found = outcome(broken, { blockBytes });
          expect(outcome(broken)).toEqual(found);
          if (typeof found === 'string') return;
          read += 1;
          let line = write([], true).split('\n').length;
          for (const booking of fields) {
            const next = line + write([booking], false).split('\n').length - 1;
            const isNamed = found.some(
              (one) => Number.parseInt(one, 10) >= line && Number.parseInt(one, 10) < next,
            );
            expect({ booking, isNamed, found }).toEqual({ booking, isNamed: true, found });
            line = next;
          }
        },
      ),
      { numRuns: 400 },
    );
    expect(read).toBeGreaterThan(100);
  });
});
