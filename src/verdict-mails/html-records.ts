import { Parser } from 'htmlparser2';
import type { Headings } from './headings.js';
import type { MailRecord } from './mail-record.js';
import { readTable } from './table-records.js';
import { readText } from './text-records.js';
import { UnreadableMailError } from './unreadable-mail.js';

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
  row: string[] | undefined;
  cell: string | undefined;
  /** How many columns the open cell spans, and how many rows. */
  span: { readonly columns: number; readonly rows: number };
  /** Cells of earlier rows that reach into this one, by column. */
  reaching: Map<number, { readonly text: string; readonly rows: number }>;
  readonly put: (row: string[], text: string) => void;
}

/** The records of HTML, in its order: those of its tables, and those of the text around them. Reads what is hidden as well. */
export function readHtml(html: string, headings: Headings): MailRecord[] {
  const records: MailRecord[] = [];
  const tables: OpenTable[] = [];
  let text = '';
  let depth = 0;
  let depthUnread = 0;
  let depthAsWritten = 0;
  const put = createCellWriter();

  const add = (found: readonly MailRecord[]) => {
    for (const record of found) records.push(record);
  };
  const flushText = () => {
    if (text.trim() !== '') add(readText(text, headings));
    text = '';
  };
  const write = (written: string) => {
    const table = tables.at(-1);
    if (table?.cell === undefined) text += written;
    else table.cell += written;
  };
  const closeTable = () => {
    const table = tables.at(-1);
    if (!table) return;
    closeRow(table);
    tables.pop();
    flushText();
    // A table with one column only arranges text.
    const isLayout = table.rows.every((row) => row.filter((cell) => cell !== '').length <= 1);
    if (isLayout && !isList(table.rows, headings)) {
      for (const row of table.rows) add(readText(row.join('\n'), headings));
    } else add(readTable(table.rows, headings));
  };

  const parser = new Parser({
    onopentag(name, attributes) {
      depth += 1;
      if (depth > deepestElement) throw new UnreadableMailError('too-deep');
      if (unread.has(name)) depthUnread += 1;
      if (name === 'pre') depthAsWritten += 1;
      const table = tables.at(-1);
      if (name === 'table' && tables.length < deepestTable) {
        if (tables.length === 0) flushText();
        tables.push({ rows: [], row: undefined, cell: undefined, span: one, reaching: new Map(), put });
      } else if (table && name === 'tr') {
        closeRow(table);
        table.row = [];
      } else if (table && (name === 'td' || name === 'th')) {
        closeCell(table);
        table.row ??= [];
        table.cell = '';
        table.span = { columns: spanOf(attributes.colspan), rows: spanOf(attributes.rowspan) };
      } else if (breaking.has(name)) write(apart.has(name) ? '\n\n' : '\n');
    },
    ontext(written) {
      if (depthUnread === 0) write(depthAsWritten > 0 ? written : written.replace(/\s+/g, ' '));
    },
    onclosetag(name) {
      depth -= 1;
      if (unread.has(name)) depthUnread = Math.max(0, depthUnread - 1);
      if (name === 'pre') depthAsWritten = Math.max(0, depthAsWritten - 1);
      const table = tables.at(-1);
      if (table && (name === 'td' || name === 'th')) closeCell(table);
      else if (table && name === 'tr') closeRow(table);
      else if (name === 'table') closeTable();
      else if (breaking.has(name) && name !== 'br') write(apart.has(name) ? '\n\n' : '\n');
    },
  });
  parser.write(html);
  parser.end();
  while (tables.length > 0) closeTable();
  flushText();
  return records;
}

const one = { columns: 1, rows: 1 };

/** A few bytes of HTML can make a cell reach into a thousand rows. */
function createCellWriter(): OpenTable['put'] {
  let cells = 0;
  let characters = 0;
  return (row, text) => {
    cells += 1;
    characters += text.length;
    if (cells > mostCells || characters > mostCharacters) throw new UnreadableMailError('too-many-rows');
    row.push(text);
  };
}

function spanOf(written: string | undefined): number {
  return /^\d{1,4}$/.test(written ?? '') ? Math.max(1, Math.min(Number(written), 1_000)) : 1;
}

/** One column with a heading. */
function isList(rows: readonly (readonly string[])[], headings: Headings): boolean {
  return rows.length > 1 && (rows[0] ?? []).some((cell) => headings.read(cell) !== undefined);
}

function closeCell(table: OpenTable): void {
  const { row, cell, span, put } = table;
  if (!row || cell === undefined) return;
  table.cell = undefined;
  fillReaching(table, row);
  const text = cleanCell(cell);
  for (let column = 0; column < span.columns && row.length < mostColumns; column += 1) {
    if (span.rows > 1) table.reaching.set(row.length, { text, rows: span.rows - 1 });
    put(row, column === 0 ? text : '');
  }
}

/** A cell that reaches down from a row above counts in each row. */
function fillReaching({ reaching, put }: OpenTable, row: string[]): void {
  for (let above = reaching.get(row.length); above; above = reaching.get(row.length)) {
    if (above.rows > 1) reaching.set(row.length, { text: above.text, rows: above.rows - 1 });
    else reaching.delete(row.length);
    put(row, above.text);
  }
}

function closeRow(table: OpenTable): void {
  closeCell(table);
  const { row } = table;
  if (!row) return;
  fillReaching(table, row);
  table.row = undefined;
  if (row.length > 0) table.rows.push(row);
}

function cleanCell(cell: string): string {
  return cell
    .split('\n')
    .map((line) => line.replace(/\s+/g, ' ').trim())
    .filter(Boolean)
    .join('\n');
}
