import Papa from 'papaparse';
import type { Headings } from './headings.js';
import type { MailCell, MailRecord } from './mail-record.js';
import { readTable } from './table-records.js';
import { UnreadableMailError } from './unreadable-mail.js';

const delimiters = ['\t', ';', '|', ','] as const;
/** Columns of plain text are held apart by spaces. */
const gap = /\s{2,}|\t/;
/** How many lines may stand above the headings of a table in the middle of a text. */
const linesAboveHeadings = 5;
const ruler = /^[\s\-=_+|*~#.·–—]+$/;
const longestLabel = 60;
/** A record takes far more memory than its line. */
const mostLines = 500_000;
const partsOfValue = /[,;|\t]|\s{2,}/;
const longestWord = 100;

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
  return delimiter === undefined ? readText(text, headings) : readTable(parse(text, delimiter), headings);
}

const lineEnd = /\r\n|\r|\n/;

function splitLines(text: string): string[] {
  const lines = text.split(lineEnd, mostLines + 1);
  if (lines.length > mostLines) throw new UnreadableMailError('too-many-rows');
  return lines;
}

/** Without the marks that quote it in a reply: "> > BR-1042". */
function unquote(line: string): string {
  let at = 0;
  for (let seen = 0; seen < line.length; seen += 1) {
    if (line[seen] === '>') at = seen + 1;
    else if (line[seen]?.trim() !== '') break;
  }
  return at === 0 ? line : line.slice(at);
}

/** Blank lines end a block; lines that only rule a table are left out. */
function splitBlocks(text: string): string[][] {
  const blocks: string[][] = [[]];
  for (const written of splitLines(text)) {
    const line = unquote(written);
    if (line.trim() === '') blocks.push([]);
    else if (!ruler.test(line)) blocks.at(-1)?.push(line);
  }
  return blocks.filter((lines) => lines.length > 0).map(repairBroken);
}

/** A line may break a reference after a hyphen: "BR-" and then "1042". Where it does not, nothing is lost. */
function repairBroken(lines: readonly string[]): string[] {
  return lines.map((line, index) => {
    const next = lines[index + 1]?.trim().slice(0, longestWord) ?? '';
    return /[^\s-][-/_]$/.test(line.slice(-2)) ? line + (/^\S+/.exec(next)?.[0] ?? '') : line;
  });
}

interface FoundTable {
  /** The line with the headings. */
  readonly start: number;
  readonly rows: readonly (readonly string[])[];
}

function findTable(lines: readonly string[], headings: Headings): FoundTable | undefined {
  for (let start = 0; start < Math.min(lines.length - 1, linesAboveHeadings); start += 1) {
    const below = lines.slice(start);
    const delimiter = findDelimiter(below, headings);
    if (delimiter !== undefined) return { start, rows: parse(below.join('\n'), delimiter) };
    const columns = (below[0] ?? '').trim().split(gap);
    const isTable = columns.length > 1 && countHeadings(columns, headings) * 2 >= columns.length;
    if (isTable) return { start, rows: below.map((line) => line.trim().split(gap)) };
  }
  return undefined;
}

/** The one that makes the first of these lines headings and splits the second one as well. */
function findDelimiter(lines: readonly string[], headings: Headings): string | undefined {
  const [first = '', second] = lines;
  const best = delimiters
    .map((delimiter) => ({ delimiter, cells: parse(first, delimiter)[0] ?? [] }))
    .filter(
      ({ delimiter, cells }) => cells.length > 1 && (second === undefined || second.includes(delimiter)),
    )
    .sort((a, b) => countHeadings(b.cells, headings) - countHeadings(a.cells, headings))[0];
  return best && countHeadings(best.cells, headings) > 0 ? best.delimiter : undefined;
}

function countHeadings(cells: readonly string[], headings: Headings): number {
  return cells.filter((cell) => headings.read(cell.trim()) !== undefined).length;
}

/** A quote that is never closed would swallow all that follows: then quotes mean nothing. */
function parse(text: string, delimiter: string): string[][] {
  const parsed = Papa.parse<string[]>(text, { delimiter });
  if (!parsed.errors.some(({ type }) => type === 'Quotes')) return parsed.data;
  return splitLines(text).map((line) => line.split(delimiter));
}

/** What a sentence says is not interpreted: only the label of references means something. "Booking references: 1, 2026" */
function readLine(line: string, headings: Headings): MailRecord {
  const text = line.trim();
  const [label, value] = splitLabel(text);
  const references: MailCell[] =
    headings.read(label) === 'reference'
      ? // A reference may contain a comma.
        [value, ...value.split(partsOfValue)].map((part) => ({ text: part.trim(), kind: 'reference' }))
      : [];
  return { cells: [{ text }, ...references], isStructured: false };
}

/** The label is empty where there is none. */
function splitLabel(text: string): [label: string, value: string] {
  const end = text.slice(0, longestLabel + 1).search(/[:=]/);
  return end < 1 ? ['', ''] : [text.slice(0, end).trim(), text.slice(end + 1).trim()];
}
