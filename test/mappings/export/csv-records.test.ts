import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OpenQuotesError, readCsvRecords } from '../../../src/mappings/export/csv.js';
import { anyPlaces, anyRecords, cutIntoBlocks } from './blocks.js';

async function read(text: string, places: readonly number[] = []): Promise<string[][]> {
  const records: string[][] = [];
  for await (const some of readCsvRecords(cutIntoBlocks(Buffer.from(text), places)))
    records.push(...some.map((cells) => [...cells]));
  return records;
}

describe('reading records of CSV', () => {
  it('returns what was written, wherever the blocks are cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyRecords,
        anyPlaces,
        fc.boolean(),
        fc.constantFrom('\n', '\r\n'),
        async (records, places, quoted, record_delimiter) => {
          // An unquoted line end always ends the record.
          const text = stringify(records, { quoted, record_delimiter, quoted_match: /[\r\n]/ });
          expect(await read(text, places)).toEqual(records);
        },
      ),
    );
  });

  it.each<[string, string, string[][]]>([
    [
      'a byte order mark',
      '\uFEFFa,b\n1,2\n',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    ['blank lines', 'a\n\n\r\nb\n', [['a'], ['b']]],
    [
      'a last line without an end',
      'a,b\n1,2',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    ['quotes inside a bare cell', 'a\n12" pipe,x\n', [['a'], ['12" pipe', 'x']]],
    ['nothing', '', []],
  ])('understands %s', async (_what, text, records) => {
    expect(await read(text)).toEqual(records);
  });

  it.each([
    ['the file ends', 'a\n"b\nc\n'],
    ['a megabyte has passed', `a\n"${'b\n'.repeat(600_000)}`],
  ])('refuses unclosed quotes when %s', async (_what, text) => {
    await expect(read(text, [10, 1_000_000])).rejects.toThrow(OpenQuotesError);
  });
});
