import Papa from 'papaparse';
import type { Headings } from './headings.js';
import type { HeadingKind, MailRecord } from './mail-record.js';
import { longestSentence, readSentence, splitClauses } from './prose.js';
import { createBlocks, isVerdict, readTable } from './table-records.js';

const delimiters = ['\t', ';', '|', ','] as const;
/** Columns of plain text are held apart by spaces. */
const gap = /\s{2,}|\t/;
const partsOfLine = /[,;|\t]|\s{2,}/;
/** How many lines may stand above the headings of a table in the middle of a text. */
const linesAboveHeadings = 5;
const ruler = /^[\s\-=_+|*~#.·–—]+$/;
const quoteMarks = /^\s*(?:>\s?)+/;
const bullet = /^\s*(?:[-*•·–—]|\d{1,3}[.)])\s+/;
const labelled = /^([^:=]{1,60}?)\s*[:=]\s*(.*)$/;
const longestWord = 100;
/** Long enough for a verdict and what precedes it. */
const longestEnd = 40;
/** "BR-1042: correct" */
const judgedAtEnd = /[:=(,;|–—-]\s*([^:=(,;|–—-]{1,20}?)\s*[).]?\s*$/;

/**
 * The records of a plain text: tables whose columns are held apart by delimiters or spaces, blocks of labelled values,
 * and lines. Quote marks at the start of lines are ignored.
 */
export function readText(text: string, headings: Headings): MailRecord[] {
  const records: MailRecord[] = [];
  let list: HeadingKind | undefined;
  for (const lines of splitBlocks(text)) {
    const table = findTable(lines, headings);
    const prose = table ? lines.slice(0, table.start) : lines;
    const opened = readClaim(prose);
    if (opened !== undefined) records.push({ cells: [], isStructured: false, opens: opened });
    const read = readLines(prose, headings, list);
    records.push(...read.records);
    if (table) records.push(...readTable(table.rows, headings));
    list = table ? undefined : read.list;
  }
  return records;
}

/** The records of a file of lines; each line is a record where it has no known headings. */
export function readDelimited(text: string, headings: Headings): MailRecord[] {
  const lines = text.split(/\r\n|\r|\n/, 20).filter((line) => line.trim() !== '');
  const delimiter = findDelimiter(lines, headings);
  return delimiter === undefined ? readText(text, headings) : readTable(parse(text, delimiter), headings);
}

/** Blank lines end a block; lines that only rule a table are left out. */
function splitBlocks(text: string): string[][] {
  const blocks: string[][] = [[]];
  for (const written of text.split(/\r\n|\r|\n/)) {
    const line = written.replace(quoteMarks, '');
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

/** Shorter lines end where they were meant to. */
const shortestWrapped = 50;

/** What the sentences of a block say about the bookings that follow. What names one itself is judged by its own line. */
function readClaim(lines: readonly string[]): MailRecord['opens'] {
  const sentences: string[] = [];
  let isOpen = false;
  for (const line of lines) {
    if (line.length > longestSentence) continue;
    const [first = '', ...others] = line.trim().split(/(?<=[.!?;:]) +/);
    if (isOpen) sentences.push(`${sentences.pop()} ${first}`);
    else sentences.push(first);
    sentences.push(...others);
    const last = sentences.at(-1) ?? '';
    isOpen = line.length >= shortestWrapped && last.length <= longestSentence && !/[.!?;:]$/.test(last);
  }
  const said = sentences.map(readSentence);
  if (said.includes('incorrect')) return 'nothing';
  const isTitle = sentences.some((sentence, index) => said[index] === 'correct' && sentence.endsWith(':'));
  return said.includes('all-correct') || isTitle ? 'unclear' : undefined;
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
  return text.split(/\r\n|\r|\n/).map((line) => line.split(delimiter));
}

interface ReadLines {
  readonly records: MailRecord[];
  /** What the last line announces, if values follow in the next block. */
  readonly list: HeadingKind | undefined;
}

/** @param announced what the block before announces: "Booking references:" */
function readLines(
  lines: readonly string[],
  headings: Headings,
  announced: HeadingKind | undefined,
): ReadLines {
  const records: MailRecord[] = [];
  let blocks = createBlocks(headings);
  let list = announced;
  let above: MailRecord | undefined;
  const flush = () => {
    records.push(...blocks.end());
    blocks = createBlocks(headings);
  };
  for (const [index, line] of lines.entries()) {
    const item = line.replace(bullet, '').trim();
    const section = readSection(item, headings);
    if (section !== undefined) {
      flush();
      records.push({ cells: [{ text: item }], isStructured: false, opens: section });
      continue;
    }
    const judged = readJudgedList(item, headings);
    if (judged) {
      flush();
      records.push(judged);
      continue;
    }
    const parts = splitLabelled(item, headings);
    if (parts.some(({ kind }) => kind !== undefined)) {
      const isAnnouncement = parts.length === 1 && parts[0]?.text === '';
      list = isAnnouncement ? parts[0]?.kind : undefined;
      // A line right above labelled values belongs to them.
      if (above && above === records.at(-1)) {
        records.pop();
        for (const { text } of above.cells) blocks.add(undefined, text);
      }
      above = undefined;
      for (const { kind, text } of parts) if (text !== '') blocks.add(kind, text);
      if (isAnnouncement && index === lines.length - 1) {
        flush();
        return { records, list };
      }
      continue;
    }
    flush();
    const clauses = splitClauses(item);
    const said = clauses.map(readStatement);
    if (said.includes('correct') && said.includes('incorrect')) {
      for (const [at, text] of clauses.entries())
        records.push({ cells: [{ text }], isStructured: false, statement: said[at] });
      above = undefined;
      continue;
    }
    const cells = [{ text: item, ...(list !== undefined && { kind: list }) }];
    if (item !== line.trim()) cells.push({ text: line.trim() });
    const statement = judgeEnd(line, headings) ?? readStatement(item);
    above = { cells, isStructured: list === 'reference', statement };
    records.push(above);
    if (statement !== undefined || list !== undefined) above = undefined;
  }
  flush();
  return { records, list: undefined };
}

function readStatement(clause: string): 'correct' | 'incorrect' | undefined {
  const said = readSentence(clause);
  return said === 'all-correct' ? 'correct' : said;
}

/** "Incorrect mappings", or any such word with a colon: what it says holds for all that follows. */
function readSection(line: string, headings: Headings): 'correct' | 'incorrect' | undefined {
  // "Incorrect mappings (3):"
  const title = line.replace(/\s*:$/, '').replace(/\s*\(\d{1,7}\)$/, '');
  if (title === line && !/\s/.test(title)) return undefined;
  const kind = headings.read(title);
  return kind === 'correct' || kind === 'incorrect' ? kind : undefined;
}

/** "Incorrect mappings: BR-1, BR-2" */
function readJudgedList(line: string, headings: Headings): MailRecord | undefined {
  const label = readLabel(line, headings);
  if (!label || !isVerdict(label.kind) || label.text === '') return undefined;
  const statement = headings.judge(label.kind, label.text);
  if (statement === 'correct' || statement === 'incorrect') return undefined;
  return {
    cells: [{ text: label.text }],
    isStructured: false,
    statement: label.kind === 'status' ? undefined : label.kind,
  };
}

function judgeEnd(line: string, headings: Headings): MailRecord['statement'] {
  const word = judgedAtEnd.exec(line.slice(-longestEnd))?.[1];
  // A line of prose speaks of the mapping only in clear words.
  return word === undefined ? undefined : headings.judge('status', word);
}

interface LabelledPart {
  readonly kind: HeadingKind | undefined;
  readonly text: string;
}

/**
 * The labelled values of a line: "Booking: BR-1, Provider: X". Values without a label belong to the label before them; the whole
 * rest of the line is one as well, because a value may contain a comma.
 */
function splitLabelled(item: string, headings: Headings): LabelledPart[] {
  const whole = readLabel(item, headings);
  let kind: HeadingKind | undefined;
  const parts = item.split(partsOfLine).map((part): LabelledPart => {
    const label = readLabel(part.trim(), headings);
    kind = label?.kind ?? kind;
    return { kind, text: label ? label.text : part.trim() };
  });
  if (whole && parts.length > 1) parts.unshift(whole);
  return parts;
}

function readLabel(text: string, headings: Headings): LabelledPart | undefined {
  const [, label = '', value = ''] = labelled.exec(text) ?? [];
  const kind = label === '' ? undefined : headings.read(label.replace(/^.*[([]/, ''));
  return kind === undefined ? undefined : { kind, text: value.trim() };
}
