const separator = ',';
const quote = '"';

/** A cell as RFC 4180 has it, in quotes only where it must be. No cell of ours holds a line end. */
export function writeCell(text: string): string {
  if (text.includes(quote)) return `"${text.replaceAll(quote, '""')}"`;
  return text.includes(separator) ? `"${text}"` : text;
}

/**
 * The cells of one record. A quote opens a quoted cell only as its first character; further on in a bare cell it is an
 * ordinary one. `open` when the record ends inside quotes, `malformed` when something other than a comma follows a
 * closing quote.
 */
export function splitCells(record: string): readonly string[] | 'open' | 'malformed' {
  if (!record.includes(quote)) return record.split(separator);
  const cells: string[] = [];
  for (let at = 0; ; at += 1) {
    if (record[at] === quote) {
      const closing = findClosingQuote(record, at + 1);
      if (closing === -1) return 'open';
      cells.push(record.slice(at + 1, closing).replaceAll('""', quote));
      at = closing + 1;
      if (at < record.length && record[at] !== separator) return 'malformed';
    } else {
      const next = record.indexOf(separator, at);
      const end = next === -1 ? record.length : next;
      cells.push(record.slice(at, end));
      at = end;
    }
    if (at === record.length) return cells;
  }
}

/** Where the cell that begins at `start` of a well-formed record ends: its comma, or the record's end. */
export function findCellEnd(record: string, start: number): number {
  const from = record[start] === quote ? findClosingQuote(record, start + 1) : start;
  const end = record.indexOf(separator, from);
  return end === -1 ? record.length : end;
}

function findClosingQuote(record: string, from: number): number {
  let at = record.indexOf(quote, from);
  while (at !== -1 && record[at + 1] === quote) at = record.indexOf(quote, at + 2);
  return at;
}

/**
 * What ends every line of the review file, the last one too; one ASCII character, and no cell holds it.
 *
 * The specification names none. A reader that knows both forms takes a line feed; one that knows line feeds alone
 * would find a carriage return in every CheckOutDate, which file rule 4 (spec 4.3) may call a bad value. And it is what
 * ends a stored line, so that writing the file is copying.
 */
export const lineEnd = '\n';
