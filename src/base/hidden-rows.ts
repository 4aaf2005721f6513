import { splitLine } from './csv-cells.js';

/** If a record has more lines than this, a quote was never closed. */
export const mostRecordLines = 20;

/** What makes a line a row of a table. */
export interface RowSigns {
  readonly delimiter: string;
  /** The column that a row must have, such as the master id. */
  readonly keyColumn: number;
  readonly isRow: (cells: readonly string[]) => boolean;
}

/**
 * Whether a record hides other rows: a quote that nobody closed makes all lines up to the next quote one cell. A remark of
 * several lines hides none, because its lines, read alone, are no rows.
 *
 * @param lines of the record, as they were written
 * @param cells of the record if it is a row itself; of any other, all lines but the first may be rows
 */
export function hidesRow(
  lines: readonly string[],
  cells: readonly string[] | undefined,
  signs: RowSigns,
): boolean {
  for (let at = 1; at < lines.length; at += 1) {
    const { isRow, end } = readFrom(lines, at, signs);
    // The line that closes a quote may look like a row.
    const isClosing = cells !== undefined && end === lines.length;
    if (isRow && !(isClosing && hasLooseQuote(lines.slice(at).join('\n'), signs.delimiter))) return true;
  }
  return cells !== undefined && hidesInEdges(cells, signs);
}

/** Reads the record that begins on a line, with the lines that its own quotes span. */
function readFrom(lines: readonly string[], at: number, { delimiter, isRow }: RowSigns) {
  let cells = splitLine(lines[at] ?? '', delimiter);
  let end = at + 1;
  for (
    ;
    typeof cells === 'object' && !Array.isArray(cells) && end < Math.min(lines.length, at + mostRecordLines);
    end += 1
  )
    cells = splitLine(lines[end] ?? '', delimiter, cells);
  return { isRow: Array.isArray(cells) && isRow(cells), end };
}

/** Of the lines that open and close a quote, a part is the record's own. They are rows if their key is inside the quotes. */
function hidesInEdges(cells: readonly string[], { delimiter, keyColumn, isRow }: RowSigns): boolean {
  const spansLines = (cell: string) => cell.includes('\n');
  const first = cells.findIndex(spansLines);
  const last = cells.findLastIndex(spansLines);
  const opening = cells[first]?.split('\n', 1)[0]?.split(delimiter) ?? [];
  const closing = cells[last]?.split('\n').at(-1)?.split(delimiter) ?? [];
  return (
    (keyColumn >= first && isRow([...cells.slice(0, first), ...opening])) ||
    (keyColumn <= last && isRow([...closing, ...cells.slice(last + 1)]))
  );
}

/** Whether a quote stands in a cell that is not quoted, as where a cell of several lines is closed. */
function hasLooseQuote(record: string, delimiter: string): boolean {
  let isQuoted = false;
  for (const cell of record.split(delimiter)) {
    const quotes = cell.split('"').length - 1;
    if (!isQuoted && quotes > 0 && !cell.startsWith('"')) return true;
    if (quotes % 2 === 1) isQuoted = !isQuoted;
  }
  return false;
}
