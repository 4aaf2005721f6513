import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readCsvRecords } from '../../src/sandbox/common/publish.js';

const cell = fc.string({ unit: fc.constantFrom('a', 'ü', '🏨', '"', ',', '\n', '\r\n', ' ', 'b') });
const cut = fc.array(fc.nat({ max: 20 }), { minLength: 1 });

/** The text in pieces of these sizes, the last of them repeated. */
async function* cutUp(text: string, sizes: readonly number[]): AsyncGenerator<Buffer> {
  let rest = Buffer.from(text);
  for (let at = 0; rest.length > 0; at += 1) {
    const size = (sizes[at] ?? 0) + 1;
    yield rest.subarray(0, size);
    rest = rest.subarray(size);
  }
}

async function read(text: string, sizes: readonly number[] = []) {
  const records: string[][] = [];
  try {
    for await (const record of readCsvRecords(cutUp(text, sizes), 1_000)) records.push(record);
    return { records };
  } catch (error) {
    return { records, fault: (error as { kind: string }).kind };
  }
}

describe("the sandbox's reader of CSV", () => {
  it('reads what is written, wherever the blocks end', async () => {
    const table = fc.array(fc.array(cell, { minLength: 2, maxLength: 2 }), { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(table, cut, fc.constantFrom('\n', '\r\n'), async (records, sizes, lineEnd) => {
        const text = stringify(records, { record_delimiter: lineEnd, quoted: true });
        expect(await read(text, sizes)).toEqual({ records });
      }),
    );
  });

  it('takes and refuses what another strict reader takes and refuses', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(cell), cut, async (pieces, sizes) => {
        const text = pieces.join('');
        const options = { record_delimiter: ['\r\n', '\n'], relax_column_count: true };
        const other = (() => {
          try {
            return { records: parse(text, options) };
          } catch {
            return 'refused';
          }
        })();
        const own = await read(text, sizes);
        expect('fault' in own ? 'refused' : own).toEqual(other);
      }),
    );
  });

  it.each([
    ['open-quote', 'a,b\n"c'],
    ['stray-quote', 'a,b\nc"d,e\n'],
    ['stray-quote', 'a,b\n"c" ,e\n'],
    ['endless-record', `a,b\n"${'c\n'.repeat(1_000)}`],
  ])('stops at the first fault, after the records before it: %s', async (fault, text) => {
    expect(await read(text, Array<number>(10_000).fill(99))).toEqual({ records: [['a', 'b']], fault });
  });
});
