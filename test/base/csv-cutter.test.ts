import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CsvRecord, createCsvCutter } from '../../src/base/csv.js';

type Cutting = Omit<Parameters<typeof createCsvCutter>[0], 'take' | 'takePlain'>;

/** The records of a text that arrives in blocks; lines without quotes are split by the test. */
function cut(text: string | Buffer, cutting: Cutting, blockBytes = 4096): CsvRecord[] {
  const records: CsvRecord[] = [];
  const cutter = createCsvCutter({
    ...cutting,
    take: (record) => records.push(record),
    takePlain({ bytes, line }) {
      const lines = bytes.toString().split('\n').slice(0, -1);
      for (const [at, written] of lines.entries()) {
        const cells = written.replace(/\r$/, '').split(cutting.delimiter ?? ',');
        const isBlank = cells.length === 1 && cells[0] === '';
        records.push({
          line: line + at,
          lines: 1,
          cells: isBlank ? [] : cells,
          fault: undefined,
          text: undefined,
        });
      }
    },
  });
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += blockBytes) cutter.cut(bytes.subarray(at, at + blockBytes));
  cutter.end();
  return records;
}

const outcome = (...arguments_: Parameters<typeof cut>) =>
  cut(...arguments_).map(({ line, lines, cells, fault }) => ({ line, lines, is: fault ?? cells }));

const cellsOf = (records: readonly CsvRecord[]) =>
  records.flatMap(({ cells = [] }) => (cells.length === 0 ? [] : [cells]));

/** The rows as csv-parse reads them; undefined if it rejects the text. */
function readIndependently(text: string, more: object): string[][] | undefined {
  try {
    const options = { record_delimiter: ['\r\n', '\n'], relax_column_count: true, skip_empty_lines: true };
    const rows: string[][] = parse(text, { ...options, ...more });
    return rows.map((row) => row.map((cell) => cell.replaceAll('\r\n', '\n')));
  } catch {
    return undefined;
  }
}

const policies = ['strict', 'lenient'] as const;
const blockSizes = fc.integer({ min: 1, max: 64 });
const piece = fc.constantFrom(
  ...['a', 'b', 'é', '🏨', ' ', ',', ',', '\n', '\n', '\r\n', '\r'],
  ...['"x"', '"a""b"', '"c,\nd"', '""', '"', ' "', ' "y"'],
);
// Half a line end at the end is one here, and a character for csv-parse.
const anyText = fc.array(piece, { maxLength: 14 }).map((parts) => `${parts.join('').replace(/\r+$/, '')}\n`);

describe('records of CSV', () => {
  it('are those of csv-parse, wherever it takes the text and blocks end', () => {
    let compared = 0;
    fc.assert(
      fc.property(anyText, blockSizes, (text, blockBytes) => {
        const theirs = readIndependently(text, {});
        if (theirs === undefined) return;
        compared += 1;
        for (const policy of policies) expect(cellsOf(cut(text, { policy }, blockBytes))).toEqual(theirs);
      }),
      { numRuns: 1_500 },
    );
    expect(compared).toBeGreaterThan(250);
  });

  it('are read by csv-parse as well if they have no fault, with quotes inside of cells and blanks before quotes', () => {
    let compared = 0;
    fc.assert(
      fc.property(anyText, (text) => {
        const ours = cut(text, { policy: 'strict' });
        // It takes a lone CR before a quote for a blank.
        if (ours.some(({ fault }) => fault) || /\r(?!\n)/.test(text)) return;
        compared += 1;
        expect(cut(text, { policy: 'lenient' })).toEqual(ours);
        // It trims cells without quotes, and then takes a blank line for an empty one.
        const trim = (rows: readonly (readonly string[])[] = []) =>
          rows
            .map((row) => row.map((cell) => cell.trimStart()))
            .filter((row) => row.length > 1 || row[0] !== '');
        expect(trim(cellsOf(ours))).toEqual(
          trim(readIndependently(text, { relax_quotes: true, ltrim: true }) ?? [['refused']]),
        );
      }),
      { numRuns: 1_500 },
    );
    expect(compared).toBeGreaterThan(250);
  });

  it.each(policies)('are the same in blocks of any size, and have all lines: %s', (policy) => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(piece, fc.constantFrom('1,x\n', '2,"y"\n', 'zzzzzzzzzzzz', '"""')), {
          maxLength: 40,
        }),
        blockSizes,
        fc.integer({ min: 8, max: 30 }),
        (parts, blockBytes, longest) => {
          const text = parts.join('');
          // A line is a row if it has two cells.
          const isDoubted: Cutting['isDoubted'] = (lines) =>
            lines.slice(1).some((line) => /^\d,[^,]+$/.test(line));
          const cutting = { policy, longest, isDoubted };
          const whole = outcome(text, cutting);
          expect(outcome(text, cutting, blockBytes)).toEqual(whole);
          expect(outcome(text, cutting, 1)).toEqual(whole);
          let next = 1;
          for (const { line, lines } of whole) {
            expect(line).toBe(next);
            next += lines;
          }
          expect(next - 1).toBe(text.split('\n').length - (/(^|\n)$/.test(text) ? 1 : 0));
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it.each([
    ['malformed quotes', '1,"a"b\n2,c\n', ['malformed-quotes', ['2', 'c']], ['malformed-quotes', ['2', 'c']]],
    [
      'malformed quotes in a later line',
      '1,"a\nb"c,d\n2,e\n',
      ['malformed-quotes', ['2', 'e']],
      ['malformed-quotes', ['b"c', 'd'], ['2', 'e']],
    ],
    ['an open quote at the end', '1,"a\n2,b\n', ['endless-quote'], ['unclosed-quote', ['2', 'b']]],
    [
      'a record that is too long',
      `1,"${'a'.repeat(60)}\n2,b\n3",c\n4,d\n`,
      ['record-too-long', ['4', 'd']],
      ['record-too-long', ['2', 'b'], ['3"', 'c'], ['4', 'd']],
    ],
    [
      'a quote that is closed after many lines',
      `1,"a\n${'b\n'.repeat(18)}c"\n2,"d\n${'e\n'.repeat(19)}f"\n`,
      [
        ['1', `a\n${'b\n'.repeat(18)}c`],
        ['2', `d\n${'e\n'.repeat(19)}f`],
      ],
      [['1', `a\n${'b\n'.repeat(18)}c`], 'unclosed-quote', ...Array(19).fill(['e']), ['f"']],
    ],
  ])('have a fault: %s', (_, text, strict, lenient) => {
    const longest = 50;
    for (const blockBytes of [1, 7, 4096]) {
      const read = (policy: Cutting['policy']) =>
        outcome(text, { policy, longest }, blockBytes).map(({ is }) => is);
      expect(read('strict')).toEqual(strict);
      expect(read('lenient')).toEqual(lenient);
    }
  });

  it('lose the first line only where they are doubted, by either policy', () => {
    const isDoubted: Cutting['isDoubted'] = (lines) => lines.includes('2,b');
    for (const policy of policies)
      expect(outcome('1,"a\n2,b\nc",d\n', { policy, isDoubted })).toEqual([
        { line: 1, lines: 1, is: 'unclosed-quote' },
        { line: 2, lines: 1, is: ['2', 'b'] },
        { line: 3, lines: 1, is: ['c"', 'd'] },
      ]);
  });
});
