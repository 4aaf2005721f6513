import type { MailRecord } from './records.js';

/** A piece of a record that may be a reference or an id. */
export interface Candidate {
  readonly text: string;
  /** The cell, and where in it the piece stands. */
  readonly cell: number;
  readonly start: number;
  readonly end: number;
}

/** Where a piece begins in a line, and ends. */
type Span = readonly [start: number, end: number];

/** No reference is longer. */
const longestCandidate = 200;
const mostWords = 3;
/** They may surround a reference, but also belong to it. */
const punctuation = new Set('.,;:!?()[]{}<>"\'«»“”„‘’*_#|=/\\-–—…');
/** They separate values that are written without spaces. They don't include the hyphen and the slash, which references contain. */
const separators = /[,;|=:()[\]<>"“”]/;

/**
 * Everything in a record that may be a reference: each line of its cells, words as written and without the punctuation around them,
 * what separators set apart, and up to three words in sequence.
 */
export function* listCandidates({ cells }: MailRecord): Generator<Candidate, void, undefined> {
  for (const [cell, { text }] of cells.entries()) {
    let at = 0;
    // A cell may break a reference.
    if (text.includes('\n') && text.length <= longestCandidate)
      yield { text: normalise(text.replaceAll('\n', '')), cell, start: 0, end: text.length };
    for (const line of text.split('\n')) {
      const words = [...line.matchAll(/\S+/g)].map(
        ({ index, 0: word }): Span => [index, index + word.length],
      );
      for (const index of words.keys())
        for (const [start, end] of listSpans(line, words, index))
          if (end > start && end - start <= longestCandidate)
            yield { text: normalise(line.slice(start, end)), cell, start: at + start, end: at + end };
      at += line.length + 1;
    }
  }
}

/** Mail programs put them into words: soft hyphens, marks of width zero, spaces and hyphens that don't break. */
function normalise(text: string): string {
  if (!/[\u00a0\u00ad\u200b-\u200f\u202f\u2010\u2011\u2060\ufeff]/.test(text)) return text;
  return text
    .replace(/[\u00ad\u200b-\u200f\u2060\ufeff]/g, '')
    .replace(/[\u00a0\u202f]/g, ' ')
    .replace(/[\u2010\u2011]/g, '-');
}

/** The pieces that begin with a word. */
function listSpans(line: string, words: readonly Span[], index: number): Span[] {
  const [start, end] = words[index] ?? [0, 0];
  const spans = listParts(line, start, end);
  for (let last = index; last < Math.min(index + mostWords, words.length); last += 1) {
    const [lastStart, lastEnd] = words[last] ?? [start, end];
    addWithAndWithoutPunctuation(spans, line, start, lastEnd);
    if (last === index) continue;
    // "ref=AB 12;x"
    const [after, before] = [lastSeparator(line, start, end), firstSeparator(line, lastStart, lastEnd)];
    if (after > start || before < lastEnd) spans.push(trim(line, after, before));
  }
  if (index === 0 && words.length > mostWords) spans.push([start, words.at(-1)?.[1] ?? end]);
  return spans;
}

function addWithAndWithoutPunctuation(spans: Span[], line: string, start: number, end: number): void {
  spans.push([start, end]);
  const [from, to] = trim(line, start, end);
  if (from !== start || to !== end) spans.push([from, to]);
}

/** "BR-1,BR-2" and "ref=BR-1" */
function listParts(line: string, start: number, end: number): Span[] {
  const spans: Span[] = [];
  const word = line.slice(start, end);
  if (word.length > longestCandidate * 20 || !separators.test(word)) return spans;
  let at = start;
  for (const part of word.split(separators)) {
    addWithAndWithoutPunctuation(spans, line, at, at + part.length);
    at += part.length + 1;
  }
  return spans;
}

/** Where the rest of a word begins after its last separator. */
function lastSeparator(line: string, start: number, end: number): number {
  for (let at = end - 1; at > start; at -= 1) if (separators.test(line[at - 1] ?? '')) return at;
  return start;
}

function firstSeparator(line: string, start: number, end: number): number {
  for (let at = start + 1; at < end; at += 1) if (separators.test(line[at] ?? '')) return at;
  return end;
}

function trim(line: string, start: number, end: number): Span {
  let [from, to] = [start, end];
  while (from < to && punctuation.has(line[from] ?? '')) from += 1;
  while (to > from && punctuation.has(line[to - 1] ?? '')) to -= 1;
  return [from, to];
}

/**
 * Whether a text could stand in an e-mail without meaning the booking of that reference: a short one, a number or a date, or a
 * plain word.
 */
export function mayBeAccident(text: string): boolean {
  if (text.length < 5 || !/\p{L}/u.test(text)) return true;
  return !/\d/.test(text) && text !== text.toUpperCase();
}
