import { type Options, stringify } from 'csv-stringify/sync';

const comma = ',';
const quote = '"';

/**
 * Ends every line of the review file, including the last. It is one ASCII character that no cell contains.
 *
 * The specification leaves it open. Readers that accept both forms accept a line feed; readers that know only line
 * feeds would find a carriage return in every CheckOutDate, which file rule 4 (spec 4.3) may reject. Stored lines end
 * with it too, so writing the file is copying.
 */
export const lineEnd = '\n';

/** Writes a cell by RFC 4180, quoted only where necessary. Our cells contain no line ends. */
export function writeCell(text: string): string {
  if (text.includes(quote)) return `"${text.replaceAll(quote, '""')}"`;
  return text.includes(comma) ? `"${text}"` : text;
}

/** A line that ends inside quotes: its complete cells, and what follows the last opening quote, as written. */
export interface OpenCells {
  readonly cells: string[];
  readonly open: string;
}

/** The cells of a whole record; undefined if its quotes are malformed or open. */
export function splitCells(record: string, separator: string = comma): string[] | undefined {
  const cells = splitLine(record, separator);
  return Array.isArray(cells) ? cells : undefined;
}

/**
 * The cells of a line; any one character may separate them. A quote opens a quoted cell only at its start, where blanks may
 * precede it; elsewhere in an unquoted cell it is an ordinary character. `malformed` if anything but the separator follows a
 * closing quote. A record that is open at the end of a line continues with the next one.
 */
export function splitLine(
  text: string,
  separator: string,
  begun?: OpenCells,
): string[] | OpenCells | 'malformed' {
  if (!begun && !text.includes(quote)) return text.split(separator);
  const cells = begun ? begun.cells : [];
  let before = begun && `${begun.open}\n`;
  for (let at = 0; ; at += 1) {
    const start = before === undefined ? findOpening(text, at, separator) : 0;
    if (start === -1) {
      const next = text.indexOf(separator, at);
      const end = next === -1 ? text.length : next;
      cells.push(text.slice(at, end));
      at = end;
    } else {
      const closing = findClosingQuote(text, start);
      const inside = text.slice(start, closing === -1 ? text.length : closing);
      const written = before === undefined ? inside : before + inside;
      if (closing === -1) return { cells, open: written };
      cells.push(written.includes('""') ? written.replaceAll('""', quote) : written);
      before = undefined;
      at = closing + 1;
      if (at < text.length && text[at] !== separator) return 'malformed';
    }
    if (at === text.length) return cells;
  }
}

/** Where the text of a quoted cell begins; -1 if the cell that begins there is not quoted. */
function findOpening(text: string, from: number, separator: string): number {
  let at = from;
  while ((text[at] === ' ' || text[at] === '\t') && text[at] !== separator) at += 1;
  return text[at] === quote ? at + 1 : -1;
}

function findClosingQuote(text: string, from: number): number {
  let at = text.indexOf(quote, from);
  while (at !== -1 && text[at + 1] === quote) at = text.indexOf(quote, at + 2);
  return at;
}

/** The end of the cell that starts at `start` in a well-formed record: its comma, or the record's end. */
export function findCellEnd(record: string, start: number): number {
  const from = record[start] === quote ? findClosingQuote(record, start + 1) : start;
  const end = record.indexOf(comma, from);
  return end === -1 ? record.length : end;
}

/** Tells Excel that a CSV is UTF-8; other programs skip it. */
export const byteOrderMark = '\uFEFF';

const separators = ',;|\t\r\n"';
const formulaSigns = '=+-@\uff1d\uff0b\uff0d\uff20';

/**
 * Puts an apostrophe where a spreadsheet would read a formula: at the start of a cell and, as it may expect another
 * separator than ours, after whatever could end one.
 */
function disarmFormulas(text: string): string {
  let disarmed = text.startsWith('\t') || text.startsWith('\r') ? "'" : '';
  let isStart = true;
  for (const character of text) {
    if (isStart && formulaSigns.includes(character)) disarmed += "'";
    isStart = separators.includes(character) || (isStart && character.trim() === '');
    disarmed += character;
  }
  return disarmed;
}

/** Records of a CSV for people. All of them pass through here: other people's text must not become a formula. */
export function renderRecords(records: readonly object[], options: Options): string {
  return stringify([...records], { cast: { string: disarmFormulas }, ...options });
}

/** A whole CSV for people. */
export function renderCsv(columns: readonly string[], records: readonly object[]): Buffer {
  return Buffer.from(byteOrderMark + renderRecords(records, { header: true, columns: [...columns] }));
}
