import { type Headings, isExportHeading } from './headings.js';
import type { HeadingKind, MailCell, MailRecord, Statement, VerdictKind } from './mail-record.js';

/** A title and a line of units may stand above the headings. */
const rowsAboveHeadings = 5;

export const isVerdict = (kind: HeadingKind | undefined): kind is VerdictKind =>
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
    const cells = row.map((text, at): MailCell => ({ text, kind: kinds?.[at] }));
    const statement = isExport ? 'unclear' : readStatement(cells, headings);
    records.push({ cells, isStructured: true, statement });
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
  if (known.length === 0 || (known.every(isVerdict) && row.length > 1)) return undefined;
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

function readVertical(rows: readonly (readonly string[])[], headings: Headings): MailRecord[] {
  const blocks = createBlocks(headings);
  for (const [label = '', ...values] of rows) {
    const value = values.filter(Boolean).join(' ');
    if (value === '') blocks.add(undefined, label);
    else blocks.add(headings.read(label), value);
  }
  return blocks.end();
}

/** Gathers labelled values into records: each begins where a label comes again. */
export function createBlocks(headings: Headings) {
  const records: MailRecord[] = [];
  let cells: MailCell[] = [];

  function close(): void {
    if (cells.length > 0)
      records.push({ cells, isStructured: true, statement: readStatement(cells, headings) });
    cells = [];
  }

  return {
    add(kind: HeadingKind | undefined, text: string): void {
      if (kind !== undefined && kind !== 'other' && cells.some((cell) => cell.kind === kind)) close();
      cells.push({ text, kind });
    },
    close,
    end(): MailRecord[] {
      close();
      return records;
    },
  };
}

/** Of several columns with verdicts, one that says incorrect counts. */
function readStatement(cells: readonly MailCell[], headings: Headings): Statement | undefined {
  const statements = cells.flatMap(({ kind, text }) =>
    isVerdict(kind) ? (headings.judge(kind, text) ?? []) : [],
  );
  return (['incorrect', 'unclear', 'correct'] as const).find((statement) => statements.includes(statement));
}
