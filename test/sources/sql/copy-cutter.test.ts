import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createCopyCutter } from '../../../src/sources/sql/copy-cutter.js';
import { listRows, type RowBatch } from '../../../src/sources/sql/rows.js';

/** As PostgreSQL documents the text format of COPY. */
function writeCell(cell: string | null): string {
  if (cell === null) return '\\N';
  const letters: Readonly<Record<string, string>> = {
    '\\': '\\',
    '\b': 'b',
    '\f': 'f',
    '\n': 'n',
    '\r': 'r',
    '\t': 't',
    '\v': 'v',
  };
  return [...cell]
    .map((character) => (character in letters ? `\\${letters[character]}` : character))
    .join('');
}

const writeRows = (rows: readonly (readonly (string | null)[])[]) =>
  Buffer.from(rows.map((row) => `${row.map(writeCell).join('\t')}\n`).join(''));

function cutAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

const cells = fc.option(
  fc.string({ unit: fc.constantFrom('a', '\\', '\n', '\t', '\r', '\v', 'N', 'é', '🏨', ' ') }),
);

it('What COPY sends becomes rows, wherever its blocks end', () => {
  const tables = fc
    .integer({ min: 1, max: 4 })
    .chain((columns) =>
      fc.tuple(
        fc.constant(columns),
        fc.array(fc.array(cells, { minLength: columns, maxLength: columns })),
        fc.array(fc.nat()),
      ),
    );
  fc.assert(
    fc.property(tables, ([columns, rows, cuts]) => {
      const cutter = createCopyCutter(Array(columns).fill(false));
      const batch = cutAt(writeRows(rows), cuts).flatMap((block) => cutter.cut(block));
      expect(listRows(batch)).toEqual(rows);
      expect(cutter.rows).toBe(rows.length);
    }),
    { numRuns: 1_000 },
  );
});

it('Rows without escapes stay lines of bytes, even between rows with escapes', () => {
  const rows = [
    ['1', 'plain'],
    ['2', ''],
    ['3', 'a\\b'],
    ['4', null],
    ['5', 'Ærø'],
  ];
  expect(createCopyCutter([false, false]).cut(writeRows(rows))).toEqual([
    { bytes: Buffer.from('1\tplain\n2\t\n'), lines: 2 },
    ['3', 'a\\b'],
    ['4', null],
    { bytes: Buffer.from('5\tÆrø\n'), lines: 1 },
  ]);
});

it('Bytes of a bytea column are bytes', () => {
  const batch = createCopyCutter([false, true]).cut(Buffer.from('1\t\\\\x00ff\n2\t\\N\n'));
  expect(batch).toEqual([
    ['1', Buffer.from([0x00, 0xff])],
    ['2', null],
  ]);
});

it.each<[string, readonly boolean[], Buffer]>([
  ['of a single column, whose cell may be empty', [false], Buffer.from('\n\n')],
  ['that are not UTF-8', [false, false], Buffer.from('1\tM\xfcller\n', 'latin1')],
  ['longer than any row may be', [false, false], Buffer.from(`1\t${'x'.repeat(1_000_001)}\n`)],
])('Lines %s are decoded, so that each is a row', (_, areBytes, bytes) => {
  const batch: RowBatch = createCopyCutter(areBytes).cut(bytes);
  expect(batch.every((row) => Array.isArray(row))).toBe(true);
  expect(batch).toHaveLength(bytes.filter((byte) => byte === 0x0a).length);
});
