import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { serviceFields } from '../../../src/booking/booking.js';
import { SourceError } from '../../../src/booking/source.js';
import { createCsvDecoder } from '../../../src/sources/csv/csv-source.js';
import { masterIdOnly } from '../../support/source-columns.js';
import { asText, type Reading, read } from './csv-folder.js';

/** A comparable result: the records, or the fault with its place. The guess of an encoding depends on the block. */
function outcome(bytes: Buffer, reading: Reading): unknown {
  try {
    return read(bytes, reading).map(asText);
  } catch (error) {
    if (error instanceof SourceError) return `${error.fault}: ${error.message.replace(/ text: .*/, '')}`;
    throw error;
  }
}

const blockSizes = fc.integer({ min: 1, max: 64 });
const delimiters = fc.constantFrom(',', ';', '\t', '|');
const awkward = fc.constantFrom(...'" "" , ; \t | \n \r\n \r \uFEFF é 山 🏨 null'.split(' '), ' ');
const cells = fc
  .array(
    fc.oneof(
      { weight: 2, arbitrary: awkward },
      { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }) },
    ),
    {
      maxLength: 5,
    },
  )
  .map((parts) => parts.join('').replaceAll('\0', ''));

describe('any valid CSV', () => {
  it('is read back with its places, in blocks of any size', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(cells, { minLength: 7, maxLength: 7 }), { maxLength: 8 }),
        fc.record({
          delimiter: delimiters,
          record_delimiter: fc.constantFrom('\n', '\r\n'),
          quoted: fc.boolean(),
          bom: fc.boolean(),
          eof: fc.boolean(),
        }),
        blockSizes,
        (rows, style, blockBytes) => {
          const write = (written: readonly (readonly string[])[], more: { bom: boolean; eof: boolean }) =>
            stringify(
              written.map((row) => [...row]),
              { ...style, ...more, quoted_match: /[\r\n]/ },
            );
          const bytes = Buffer.from(write([[...serviceFields], ...rows], style));
          let line = 2;
          const expected = rows.flatMap((row) => {
            const place = line;
            line += write([row], { bom: false, eof: true }).split('\n').length - 1;
            const entries = serviceFields.map((field, index) => [
              field,
              row[index]?.replaceAll('\r\n', '\n'),
            ]);
            return isEmptyRow(row) ? [] : [{ place, fields: Object.fromEntries(entries) }];
          });
          expect(read(bytes, { blockBytes, delimiter: style.delimiter }).map(asText)).toEqual(expected);
        },
      ),
      { numRuns: 1000 },
    );
  });
});

function isEmptyRow(row: readonly string[]): boolean {
  return row.length > 1 && row.every((cell) => /^ *$/.test(cell));
}

describe('any bytes', () => {
  const texts = 'a bbbbbbb , " " "" \n \n \r\n \r ,x\n 1,x\n 2,"y"\n é 🏨'.split(' ');
  const mostlyText = fc.array(
    fc.oneof(
      { weight: 60, arbitrary: fc.constantFrom(...texts).map((text) => Buffer.from(text)) },
      { weight: 1, arbitrary: fc.constantFrom([0], [0xff], [0xf0, 0x9f]).map((bytes) => Buffer.from(bytes)) },
    ),
    { maxLength: 40 },
  );

  it('give the same records, rejects, faults and places in blocks of any size', () => {
    fc.assert(
      fc.property(
        mostlyText,
        blockSizes,
        fc.integer({ min: 24, max: 40 }),
        (parts, blockBytes, recordLimit) => {
          const bytes = Buffer.concat([Buffer.from('ServiceId,ProviderName\n'), ...parts]);
          const whole = outcome(bytes, { blockBytes: bytes.length, recordLimit });
          expect(outcome(bytes, { blockBytes, recordLimit })).toEqual(whole);
          expect(outcome(bytes, { blockBytes: 1, recordLimit })).toEqual(whole);
        },
      ),
      { numRuns: 2000 },
    );
  });
});

describe('a record of any length', () => {
  it.each(['', '"'])('is skipped in constant memory (after %j)', (opening) => {
    const block = Buffer.alloc(1_000_000, 'x');
    const decoder = createCsvDecoder({
      path: 'day.csv',
      columns: masterIdOnly,
      delimiter: ',',
      recordLimit: 1_000_000,
    });
    decoder.decode(Buffer.from(`ServiceId\n${opening}`));
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    for (let blocks = 0; blocks < 100; blocks++) {
      decoder.decode(block);
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }
    expect(decoder.decode(Buffer.from(`${opening}\n5\n`)).records).toMatchObject([
      { place: 2, unreadable: 'record-too-long' },
      { place: 3, fields: { ServiceId: '5' } },
    ]);
    expect(most).toBeLessThan(10_000_000);
  });
});
