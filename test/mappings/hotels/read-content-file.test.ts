import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inspectFile } from '../../../src/mappings/export/inspect-file.js';
import { readExportRows } from '../../../src/mappings/hotels/read-content-file.js';
import { anyPlaces, anyRecords, cutIntoBlocks } from '../export/blocks.js';

const masterIdNames = ['ServiceId'];
const never = new AbortController().signal;

function inspect(text: string, places: readonly number[] = []) {
  const content = cutIntoBlocks(Buffer.from(text), places);
  return inspectFile({ kind: 'transformed', name: 'file.csv' }, content, masterIdNames);
}

async function read(text: string, places: readonly number[] = []) {
  const rows: (readonly string[])[] = [];
  const content = cutIntoBlocks(Buffer.from(text), places);
  const file = { file: 'file.csv', content, masterIdNames };
  for await (const some of readExportRows(file, () => (cells) => cells, never)) rows.push(...some);
  return rows;
}

describe('the rows of an export', () => {
  it('are what was written, wherever the blocks are cut', async () => {
    const anyForm = fc.record({ quoted: fc.boolean(), record_delimiter: fc.constantFrom('\n', '\r\n') });
    await fc.assert(
      fc.asyncProperty(anyRecords, anyPlaces, anyForm, async (records, places, form) => {
        // An unquoted line end always ends the record.
        const text = stringify([['ServiceId', 'b'], ...records], { ...form, quoted_match: /[\r\n]/ });
        const written = records.map((cells) => cells.map((cell) => cell.replaceAll('\r\n', '\n')));
        expect(await read(text, places)).toEqual(written);
        expect(await inspect(text, places)).toMatchObject({ rows: records.length, endsInMidLine: false });
      }),
    );
  });

  it.each([
    ['a byte order mark', '\uFEFF"ServiceId",b\n1,2\n', [['1', '2']]],
    ['blank lines', 'ServiceId\n\n\r\nb\n', [['b']]],
    ['a last line without an end', 'ServiceId,b\n1,2', [['1', '2']]],
    ['quotes inside a bare cell', 'ServiceId\n12" pipe,x\n', [['12" pipe', 'x']]],
    ['a quote in the wrong place', 'ServiceId,b\n"1"x,"2"\n', [['"1"x', '"2"']]],
    ['blank cells', 'ServiceId,b\n,\n""\n', [['', ''], ['']]],
    ['nothing', 'ServiceId\n', []],
  ])('may have %s', async (_what, text, rows) => {
    expect(await read(text, [1, 2, 3])).toEqual(rows);
    expect((await inspect(text, [1, 2, 3])).rows).toBe(rows.length);
  });

  it.each([
    ['a quote that is open at the end', 'ServiceId\n1\n"b\nc\n', 'in line 3', 'in row 2'],
    ['a quote that is open for a megabyte', `ServiceId\n"${'b\n'.repeat(600_000)}`, 'in line 2', 'in row 1'],
  ])('are refused with %s', async (_what, text, line, row) => {
    const places = [10, 1_000_000];
    await expect(inspect(text, places)).rejects.toThrow(`a quote to close the cell that begins ${line}`);
    await expect(read(text, places)).rejects.toThrow(`a quote ${row} is not closed`);
  });

  it.each([
    ['text, got: binary data', 'ServiceId\n\0\n'],
    ['a header, got: a first line of more than 1 MB', 'a'.repeat(1_100_000)],
    ['a header, got: an empty file', '\n'],
  ])('are refused where the file should have %s', async (expected, text) => {
    await expect(inspect(text, [3])).rejects.toThrow(`file.csv: expected ${expected}`);
  });
});
