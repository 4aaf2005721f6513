import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRecordCounter } from '../../../src/mappings/export/csv.js';
import { anyPlaces, anyRecords, cutIntoBlocks } from './blocks.js';

async function count(text: string, places: readonly number[] = []) {
  const counter = createRecordCounter();
  for await (const block of cutIntoBlocks(Buffer.from(text), places)) counter.take(block);
  const { header, ...counted } = counter.end();
  return { ...counted, header: header.toString() };
}

describe('counting records of CSV', () => {
  it('counts what was written, wherever the blocks are cut, and keeps the header', async () => {
    await fc.assert(
      fc.asyncProperty(anyRecords, anyPlaces, fc.boolean(), async (records, places, quoted) => {
        const text = stringify(records, { quoted, quoted_match: /[\r\n]/ });
        const [header = []] = records;
        expect(await count(text, places)).toEqual({
          records: records.length,
          header: stringify([header], { quoted, quoted_match: /[\r\n]/ }).slice(0, -1),
          fault: undefined,
          endsWithLine: true,
        });
      }),
    );
  });

  it.each([
    ['blank lines', 'a\n\n\r\nb\n', 2],
    ['a last line without an end', 'a\nb', 2],
    ['quotes inside a bare cell', 'a\n12" pipe\nx"\n', 3],
    ['blank cells', 'a,b\n,\n', 2],
    ['an empty cell in quotes', 'a\n""\n', 2],
    ['nothing', '', 0],
  ])('handles %s', async (_what, text, records) => {
    expect(await count(text, [1, 2, 3])).toMatchObject({ records, fault: undefined });
  });

  it.each([
    ['binary', 'a\n\0\n'],
    ['open-quotes', 'a\n"b\n'],
    ['endless-header', 'a'.repeat(1_100_000)],
  ])('finds the fault %s', async (fault, text) => {
    expect(await count(text, [3])).toMatchObject({ fault });
  });
});
