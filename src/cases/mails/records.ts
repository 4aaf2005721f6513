import { Parser } from 'htmlparser2';
import { cutRecords } from '../../base/csv.js';
import { splitCells } from '../../base/csv-cells.js';
import { hidesRow } from '../../base/hidden-rows.js';
import type { UnreadReason } from '../../ledger/mails.js';
import { type HeadingKind, type Headings, isExportHeading, isVerdict, type Statement } from './headings.js';

/** A cell of a table, the value of a label, or a line of text; several lines where the e-mail breaks it. */
export interface MailCell {
  readonly text: string;
  /** What its column's heading, or its label, announces. */
  readonly kind?: HeadingKind | undefined;
}

/** What belongs together in an e-mail: a row of a table, or a line of text. */
export interface MailRecord {
  readonly cells: readonly MailCell[];
  /** True for a row, false for a line. */
  readonly isStructured: boolean;
  /** Undefined where no column says anything that can be read. */
  readonly statement?: Statement | undefined;
}

export type Rows = readonly (readonly string[])[];

/** An e-mail was not read. Its message quotes nothing of it. */
export class UnreadMailError extends Error {
  override readonly name = 'UnreadMailError';
  readonly reason: UnreadReason;

  constructor(reason: UnreadReason) {
    super(`the e-mail can't be read: ${reason}`);
    this.reason = reason;
  }

  /** Whether its reader failed: another time, or another version, may read it. */
  get isFault(): boolean {
    return ['too-slow', 'too-much-memory', 'failed'].includes(this.reason);
  }
}

/** Lines of a text, as written: an attachment of the largest size in base64 has fewer. A record takes far more memory. */
export const mostLines = 500_000;
const delimiters = ['\t', ';', '|', ','];
/** Columns of plain text are held apart by spaces. */
const gap = /\s{2,}|\t/;
/** How many lines or rows, such as a title, may stand above the headings of a table. */
const mostAboveHeadings = 5;
const ruler = /^[\s\-=_+|*~#.·–—]+$/;
const longestLabel = 60;
const partsOfValue = /[,;|\t]|\s{2,}/;
const longestWord = 100;
const lineEnd = /\r\n|\r|\n/;

/**
 * The records of a plain text: tables whose columns are held apart by delimiters or spaces, and lines. Quote marks at the
 * start of lines are ignored.
 */
export function readText(text: string, headings: Headings): MailRecord[] {
  return splitBlocks(text).flatMap((lines) => {
    const table = findTable(lines, headings);
    const read = lines.slice(0, table?.start).map((line) => readLine(line, headings));
    return table ? [...read, ...readTable(table.rows, headings)] : read;
  });
}

/** The records of a file of lines; each line is a record where it has no known headings. */
export function readDelimited(text: string, headings: Headings): MailRecord[] {
  const lines = text.split(lineEnd, 20).filter((line) => line.trim() !== '');
  const delimiter = findDelimiter(lines, headings);
  return delimiter === undefined
    ? readText(text, headings)
    : readTable(parseTable(splitLines(text), delimiter, headings), headings);
}

function splitLines(text: string): string[] {
  const lines = text.split(lineEnd, mostLines + 1);
  if (lines.length > mostLines) throw new UnreadMailError('too-many-rows');
  return lines;
}

/** Blank lines end a block; lines that only rule a table are left out, and marks that quote in a reply: "> > BR-1042". */
function splitBlocks(text: string): string[][] {
  const blocks: string[][] = [[]];
  for (const written of splitLines(text)) {
    const line = written.replace(/^[\s>]*>/, '');
    if (line.trim() === '') blocks.push([]);
    else if (!ruler.test(line)) blocks.at(-1)?.push(line);
  }
  return blocks.filter((lines) => lines.length > 0).map(repairBroken);
}

/** A line may break a reference after a hyphen: "BR-" and then "1042". Where it does not, nothing is lost. */
function repairBroken(lines: readonly string[]): string[] {
  return lines.map((line, index) => {
    if (!/[^\s-][-/_]$/.test(line.slice(-2))) return line;
    const [next = ''] = lines[index + 1]?.trim().slice(0, longestWord).split(/\s/, 1) ?? [];
    return line + next;
  });
}

/** Looks for the line with the headings of a table that reaches to the end. */
function findTable(lines: readonly string[], headings: Headings) {
  for (let start = 0; start < Math.min(lines.length - 1, mostAboveHeadings); start += 1) {
    const below = lines.slice(start);
    const delimiter = findDelimiter(below, headings);
    if (delimiter !== undefined) return { start, rows: parseTable(below, delimiter, headings) };
    const columns = (below[0] ?? '').trim().split(gap);
    if (columns.length > 1 && countHeadings(columns, headings) * 2 >= columns.length)
      return { start, rows: below.map((line) => line.trim().split(gap)) };
  }
  return undefined;
}

/** The one that makes the first of these lines headings and splits the second one as well. */
function findDelimiter([first = '', second]: readonly string[], headings: Headings): string | undefined {
  let best: string | undefined;
  let most = 0;
  for (const delimiter of delimiters) {
    const cells = readCells(first, delimiter);
    const found = countHeadings(cells, headings);
    if (cells.length < 2 || found <= most || second?.includes(delimiter) === false) continue;
    best = delimiter;
    most = found;
  }
  return best;
}

function countHeadings(cells: readonly string[], headings: Headings): number {
  return cells.filter((cell) => headings.read(cell.trim()) !== undefined).length;
}

/** A line with a quote that is never closed, or in the wrong place, is read as if quotes meant nothing. */
function parseTable(lines: readonly string[], delimiter: string, headings: Headings): string[][] {
  const first = lines.slice(0, mostAboveHeadings).map((line) => readCells(line, delimiter));
  const names = first.find((row) => countHeadings(row, headings) > 1) ?? [];
  const keyColumn = names.findIndex((name) => headings.read(name.trim()) === 'reference');
  const isRow = (row: readonly string[]) => row.length === names.length && /\d/.test(row[keyColumn] ?? '');
  const records = cutRecords(lines, {
    ...{ delimiter, policy: 'lenient' },
    isDoubted: (some, cells = []) =>
      hidesRow(some, isRow(cells) ? cells : undefined, { delimiter, keyColumn, isRow }),
  });
  return records.map(({ cells, text = '' }) => [...(cells ?? text.split(delimiter))]);
}

function readCells(line: string, delimiter: string): string[] {
  return splitCells(line, delimiter) ?? line.split(delimiter);
}

/** What a sentence says is not interpreted: only the label of references means something. "Booking references: 1, 2026" */
function readLine(line: string, headings: Headings): MailRecord {
  const text = line.trim();
  const end = text.slice(0, longestLabel + 1).search(/[:=]/);
  const isLabelled = end > 0 && headings.read(text.slice(0, end).trim()) === 'reference';
  const value = text.slice(end + 1).trim();
  // A reference may contain a comma.
  const references = isLabelled ? [value, ...value.split(partsOfValue)] : [];
  const cells = references.map((part): MailCell => ({ text: part.trim(), kind: 'reference' }));
  return { cells: [{ text }, ...cells], isStructured: false };
}

/**
 * The records of a table: one per row below its headings, or, where the headings are in the first of two columns, one per block
 * of rows. Without known headings each row is a record.
 */
function readTable(rows: Rows, headings: Headings): MailRecord[] {
  const filled = rows.map((row) => row.map((cell) => cell.trim())).filter((row) => row.some(Boolean));
  const cells = isVertical(filled, headings) ? turnUpright(filled, headings) : labelCells(filled, headings);
  return cells.map((row) => {
    const statements = row.map(({ kind, text }) => headings.judge(kind, text));
    // Of several columns with verdicts, one that says incorrect counts.
    const statement = statements.includes('incorrect') ? 'incorrect' : statements.find(Boolean);
    return { cells: row, isStructured: true, statement };
  });
}

function labelCells(rows: Rows, headings: Headings): MailCell[][] {
  const labelled: MailCell[][] = [];
  let kinds: readonly (HeadingKind | undefined)[] | undefined;
  let isExport = false;
  for (const [index, row] of rows.entries()) {
    const found = kinds || index < mostAboveHeadings ? readHeadings(row, headings) : undefined;
    // Tables with the same headings may follow each other.
    if (found && (kinds === undefined || found.every((kind, at) => kind === kinds?.[at]))) {
      kinds = found;
      isExport = isExportHeading(row);
    } else if (!isExport) labelled.push(row.map((text, at) => ({ text, kind: kinds?.[at] })));
  }
  return labelled;
}

/** The kinds of the columns, if at least one cell is a known heading and none looks like a value. */
function readHeadings(row: readonly string[], headings: Headings) {
  const kinds = row.map((cell) => headings.read(cell));
  // "correct" and "status" are values as well.
  if (kinds.every((kind) => kind === undefined || isVerdict(kind))) return undefined;
  return row.some((cell, at) => kinds[at] === undefined && /\d{3}/.test(cell)) ? undefined : kinds;
}

function isVertical(rows: Rows, headings: Headings): boolean {
  const labels = rows.flatMap(([label = '', value = '', ...others]) => {
    const isLabelled = value !== '' && !others.some(Boolean) && headings.read(label) !== undefined;
    return isLabelled && headings.read(value) === undefined ? [label] : [];
  });
  return labels.length > rows.length / 2 && (new Set(labels).size > 1 || rows.length === 1);
}

/** Each record begins where a label comes again. */
function turnUpright(rows: Rows, headings: Headings): MailCell[][] {
  const blocks: MailCell[][] = [[]];
  for (const [label = '', ...values] of rows) {
    const value = values.filter(Boolean).join(' ');
    const kind = value === '' ? undefined : headings.read(label);
    if (kind !== undefined && kind !== 'other' && blocks.at(-1)?.some((cell) => cell.kind === kind))
      blocks.push([]);
    blocks.at(-1)?.push({ text: value === '' ? label : value, kind });
  }
  return blocks;
}

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
