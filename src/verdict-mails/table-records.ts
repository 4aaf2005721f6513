import { type Headings, isExportHeading } from './headings.js';
import type { HeadingKind, MailCell, MailRecord, VerdictKind } from './mail-record.js';

/** A title and a line of units may stand above the headings. */
const rowsAboveHeadings = 5;

const isVerdict = (kind: HeadingKind | undefined): kind is VerdictKind =>
  kind === 'correct' || kind === 'incorrect' || kind === 'status';

/**
 * The records of a table: one per row below its headings, or, where the headings are in the first of two columns, one per block
 * of rows. Without known headings each row is a record.
 */
export function readTable(rows: readonly (readonly string[])[], headings: Headings): MailRecord[] {
  const filled = rows.map((row) => row.map((cell) => cell.trim())).filter((row) => row.some(Boolean));
  return isVertical(filled, headings) ? readVertical(filled, headings) : readHorizontal(filled, headings);
}

function readHorizontal(rows: readonly (readonly string[])[], headings: Headings): MailRecord[] {
  const records: MailRecord[] = [];
  let kinds: readonly (HeadingKind | undefined)[] | undefined;
  let isExport = false;
  for (const [index, row] of rows.entries()) {
    if (kinds === undefined ? index < rowsAboveHeadings : true) {
      const found = readHeadings(row, headings);
      // Tables with the same headings may follow each other.
      if (found && (kinds === undefined || found.every((kind, at) => kind === kinds?.[at]))) {
        kinds = found;
        isExport = isExportHeading(row);
        continue;
      }
    }
    if (isExport) continue;
    const cells = row.map((text, at): MailCell => ({ text, kind: kinds?.[at] }));
    records.push(toRecord(cells, headings));
  }
  return records;
}

/** The kinds of the columns, if at least one cell is a known heading and none looks like a value. */
function readHeadings(
  row: readonly string[],
  headings: Headings,
): readonly (HeadingKind | undefined)[] | undefined {
  const kinds = row.map((cell) => (cell === '' ? undefined : headings.read(cell)));
  const known = kinds.filter((kind) => kind !== undefined);
  // "correct" and "status" are values as well.
  if (known.every(isVerdict)) return undefined;
  return row.some((cell, at) => kinds[at] === undefined && /\d{3}/.test(cell)) ? undefined : kinds;
}

function isVertical(rows: readonly (readonly string[])[], headings: Headings): boolean {
  const labelled = rows.filter(([label = '', value = '', ...others]) => {
    return headings.read(label) !== undefined && value !== '' && others.every((cell) => cell === '');
  });
  const named = labelled.filter(([, value = '']) => headings.read(value) === undefined);
  const labels = new Set(named.map(([label]) => label));
  return named.length > rows.length / 2 && (labels.size > 1 || rows.length === 1);
}

/** Each record begins where a label comes again. */
function readVertical(rows: readonly (readonly string[])[], headings: Headings): MailRecord[] {
  const blocks: MailCell[][] = [[]];
  for (const [label = '', ...values] of rows) {
    const value = values.filter(Boolean).join(' ');
    const kind = value === '' ? undefined : headings.read(label);
    if (kind !== undefined && kind !== 'other' && blocks.at(-1)?.some((cell) => cell.kind === kind))
      blocks.push([]);
    blocks.at(-1)?.push({ text: value === '' ? label : value, kind });
  }
  return blocks.map((cells) => toRecord(cells, headings));
}

/** Of several columns with verdicts, one that says incorrect counts. */
function toRecord(cells: readonly MailCell[], headings: Headings): MailRecord {
  const statements = cells.flatMap(({ kind, text }) => (isVerdict(kind) ? headings.judge(kind, text) : []));
  const statement = statements.includes('incorrect') ? 'incorrect' : statements.find(Boolean);
  return { cells, isStructured: true, statement };
}
