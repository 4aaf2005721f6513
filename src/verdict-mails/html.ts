import { Parser } from 'htmlparser2';
import type { Headings } from './headings.js';
import { type MailRecord, type Rows, readTable, readText, UnreadMailError } from './records.js';

/** More columns than any table of bookings. */
const mostColumns = 200;
/** Tables within tables; deeper ones are read as text. */
const deepestTable = 20;
/** Elements within elements. The parser takes longer for each the more are open; an e-mail that forgets to close some is read. */
const deepestElement = 5_000;
/** More than in a table of 50,000 bookings, counting each cell again where it reaches into other rows. */
const mostCells = 2_000_000;
const mostCharacters = 100_000_000;

const unread = new Set(['script', 'style', 'title', 'template', 'noscript', 'svg', 'math']);
/** They begin a new line. */
const breaking = new Set(
  'address article aside blockquote br center dd div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section ul'.split(
    ' ',
  ),
);
/** An empty line comes before and after them: what stands there does not belong together. */
const apart = new Set('p h1 h2 h3 h4 h5 h6 ul ol dl hr blockquote'.split(' '));

interface OpenTable {
  readonly rows: string[][];
  /** Cells of earlier rows that reach into this one, by column. */
  readonly reaching: Map<number, { readonly text: string; readonly rows: number }>;
  row?: string[] | undefined;
  /** How many columns the open cell spans, and how many rows. */
  cell?: { text: string; readonly columns: number; readonly rows: number } | undefined;
}

/** The records of HTML, in its order: those of its tables, and those of the text around them. Reads what is hidden as well. */
export function readHtml(html: string, headings: Headings): MailRecord[] {
  const records: MailRecord[] = [];
  const tables: OpenTable[] = [];
  let text = '';
  let depth = 0;
  let depthUnread = 0;
  let depthAsWritten = 0;
  let cells = 0;
  let characters = 0;

  const add = (found: readonly MailRecord[]) => {
    for (const record of found) records.push(record);
  };
  const flushText = () => {
    add(readText(text, headings));
    text = '';
  };
  const write = (written: string) => {
    const cell = tables.at(-1)?.cell;
    if (cell) cell.text += written;
    else text += written;
  };
  /** A few bytes of HTML can make a cell reach into a thousand rows. */
  const put = (row: string[], cell: string) => {
    cells += 1;
    characters += cell.length;
    if (cells > mostCells || characters > mostCharacters) throw new UnreadMailError('too-many-rows');
    row.push(cell);
  };
  /** A cell that reaches down from a row above counts in each row. */
  const putReaching = ({ reaching }: OpenTable, row: string[]) => {
    for (let above = reaching.get(row.length); above; above = reaching.get(row.length)) {
      if (above.rows > 1) reaching.set(row.length, { ...above, rows: above.rows - 1 });
      else reaching.delete(row.length);
      put(row, above.text);
    }
  };
  const closeCell = (table: OpenTable) => {
    const { row, cell, reaching } = table;
    if (!row || !cell) return;
    table.cell = undefined;
    putReaching(table, row);
    const content = cleanCell(cell.text);
    for (let column = 0; column < cell.columns && row.length < mostColumns; column += 1) {
      if (cell.rows > 1) reaching.set(row.length, { text: content, rows: cell.rows - 1 });
      put(row, column === 0 ? content : '');
    }
  };
  const closeRow = (table: OpenTable) => {
    closeCell(table);
    const { row = [] } = table;
    if (table.row) putReaching(table, row);
    table.row = undefined;
    if (row.length > 0) table.rows.push(row);
  };
  const closeTable = (table: OpenTable) => {
    closeRow(table);
    tables.pop();
    flushText();
    if (isLayout(table.rows, headings)) for (const row of table.rows) add(readText(row.join('\n'), headings));
    else add(readTable(table.rows, headings));
  };
  const breakLine = (name: string) => {
    if (breaking.has(name)) write(apart.has(name) ? '\n\n' : '\n');
  };

  const parser = new Parser({
    onopentag(name, { colspan, rowspan }) {
      depth += 1;
      if (depth > deepestElement) throw new UnreadMailError('too-deep');
      if (unread.has(name)) depthUnread += 1;
      if (name === 'pre') depthAsWritten += 1;
      const table = tables.at(-1);
      if (name === 'table' && tables.length < deepestTable) {
        if (!table) flushText();
        tables.push({ rows: [], reaching: new Map() });
      } else if (table && name === 'tr') {
        closeRow(table);
        table.row = [];
      } else if (table && (name === 'td' || name === 'th')) {
        closeCell(table);
        table.row ??= [];
        table.cell = { text: '', columns: spanOf(colspan), rows: spanOf(rowspan) };
      } else breakLine(name);
    },
    ontext(written) {
      if (depthUnread === 0) write(depthAsWritten > 0 ? written : written.replace(/\s+/g, ' '));
    },
    onclosetag(name) {
      depth -= 1;
      if (unread.has(name)) depthUnread -= 1;
      if (name === 'pre') depthAsWritten -= 1;
      const table = tables.at(-1);
      if (table && (name === 'td' || name === 'th')) closeCell(table);
      else if (table && name === 'tr') closeRow(table);
      else if (table && name === 'table') closeTable(table);
      else if (name !== 'br') breakLine(name);
    },
  });
  // Whatever is still open is closed at the end.
  parser.end(html);
  flushText();
  return records;
}

function spanOf(written = ''): number {
  return /^\d{1,4}$/.test(written) ? Math.max(1, Math.min(Number(written), 1_000)) : 1;
}

/** A table with one column only arranges text, unless the column has a heading. */
function isLayout([first = [], ...others]: Rows, headings: Headings): boolean {
  const isList = others.length > 0 && first.some((cell) => headings.read(cell) !== undefined);
  return !isList && [first, ...others].every((row) => row.filter(Boolean).length <= 1);
}

function cleanCell(cell: string): string {
  return cell
    .split('\n')
    .map((line) => line.replace(/\s+/g, ' ').trim())
    .filter(Boolean)
    .join('\n');
}
