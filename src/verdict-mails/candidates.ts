import type { MailRecord } from './mail-record.js';

/** A piece of a record that may be a reference or an id. */
export interface Candidate {
  readonly text: string;
  /** The cell, and where in it the piece stands. */
  readonly cell: number;
  readonly start: number;
  readonly end: number;
}

/** No reference is longer. */
const longestCandidate = 200;
const mostWords = 3;
/** They may surround a reference, but also belong to it. */
const punctuation = '.,;:!?()[]{}<>"\'«»“”„‘’*_#|=/\\-–—…';
const isPunctuation = new Set(punctuation);
/** They separate values that are written without spaces. They don't include the hyphen and the slash, which references contain. */
const separators = /[,;|=:()[\]<>"“”]/;

/**
 * Everything in a record that may be a reference: each line of its cells, words as written and without the punctuation around them,
 * what separators set apart, and up to three words in sequence.
 */
export function forEachCandidate({ cells }: MailRecord, take: (candidate: Candidate) => void): void {
  for (const [cell, { text }] of cells.entries()) {
    let at = 0;
    // A cell may break a reference.
    if (text.includes('\n') && text.length <= longestCandidate)
      take({ text: normalise(text.replaceAll('\n', '')), cell, start: 0, end: text.length });
    for (const line of text.split('\n')) {
      forEachInLine(line, at, (found, start, end) => take({ text: found, cell, start, end }));
      at += line.length + 1;
    }
  }
}

/** Mail programs put them into words: soft hyphens, marks of width zero, spaces and hyphens that don't break. */
const invisible = /[\u00ad\u200b-\u200f\u2060\ufeff]/g;
const typographic = /[\u00a0\u00ad\u200b-\u200f\u202f\u2010\u2011\u2060\ufeff]/;

function normalise(text: string): string {
  if (!typographic.test(text)) return text;
  return text
    .replace(invisible, '')
    .replace(/[\u00a0\u202f]/g, ' ')
    .replace(/[\u2010\u2011]/g, '-');
}

type Take = (text: string, start: number, end: number) => void;

function forEachInLine(line: string, offset: number, take: Take): void {
  const give = (start: number, end: number) => {
    if (end <= start || end - start > longestCandidate) return;
    take(normalise(line.slice(start, end)), offset + start, offset + end);
  };
  const words = findWords(line);
  for (const [index, { start, end }] of words.entries()) {
    give(start, end);
    giveParts(line, start, end, give);
    for (let count = 1; count <= mostWords && index + count <= words.length; count += 1) {
      const last = words[index + count - 1] ?? { start, end };
      const [from, to] = trim(line, start, last.end);
      if (from !== start || to !== last.end || count > 1) give(from, to);
      if (count === 1) continue;
      if (from !== start || to !== last.end) give(start, last.end);
      // "ref=AB 12;x"
      const after = lastSeparator(line, start, end);
      const before = firstSeparator(line, last.start, last.end);
      if (after > start || before < last.end) give(...trim(line, after, before));
    }
  }
  if (words.length > mostWords) give(words[0]?.start ?? 0, words.at(-1)?.end ?? 0);
}

function findWords(line: string): { readonly start: number; readonly end: number }[] {
  const words: { start: number; end: number }[] = [];
  for (const match of line.matchAll(/\S+/g))
    words.push({ start: match.index, end: match.index + match[0].length });
  return words;
}

/** "BR-1,BR-2" and "ref=BR-1" */
function giveParts(
  line: string,
  start: number,
  end: number,
  give: (start: number, end: number) => void,
): void {
  const word = line.slice(start, end);
  if (word.length > longestCandidate * 20 || !separators.test(word)) return;
  let at = start;
  for (const part of word.split(separators)) {
    const [from, to] = trim(line, at, at + part.length);
    give(from, to);
    if (from !== at || to !== at + part.length) give(at, at + part.length);
    at += part.length + 1;
  }
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

function trim(line: string, start: number, end: number): [start: number, end: number] {
  let [from, to] = [start, end];
  while (from < to && isPunctuation.has(line[from] ?? '')) from += 1;
  while (to > from && isPunctuation.has(line[to - 1] ?? '')) to -= 1;
  return [from, to];
}

/**
 * Whether a text could stand in an e-mail without meaning the booking of that reference: a short one, a number or a date, or a
 * plain word.
 */
export function mayBeAccident(text: string): boolean {
  if (text.length < shortestDistinct) return true;
  const hasDigit = /\d/.test(text);
  const hasLetter = /\p{L}/u.test(text);
  if (!hasLetter) return true;
  return !hasDigit && text !== text.toUpperCase();
}

const shortestDistinct = 5;
