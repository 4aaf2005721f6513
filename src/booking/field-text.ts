import type { FieldKind } from './booking.js';

/** A value that is not text and can't be converted to text without guessing. */
export const notText = Symbol('not text');

/** A field's normalised text; undefined when missing. */
export type FieldText = string | undefined | typeof notText;

// `\s` is what `trim` removes: Unicode white space and the byte order mark.
const clean = /^(?!\s|=")[^\p{Cc}\u2028\u2029\p{Cs}]+(?<!\s)$/u;
const unprintableRun = /[\p{Cc}\u2028\u2029]+/gu;
const loneSurrogate = /\p{Cs}/gu;
const nullWord = /^(?:null|none|undefined|nan)$/i;
const longestNullWord = 'undefined'.length;
/** Zero-width characters, soft hyphens, marks of direction. */
const invisible = /\p{Cf}/gu;
/** What programs put around an id to mark it as text. */
const quotes: ReadonlySet<string | undefined> = new Set(`"'‘’“”`);
const mayBeQuoted = /^=?["'‘’“”]|["'‘’“”]$/;
const rounded = /^-?\d+[.,]\d+e[+-]\d{1,3}$/i;
const plainDecimal = /^-?\d+(?:\.\d+)?$/;

/** True for the words that mean "no value", in any case. (Spec 4.3, file rule 4; design 4.) */
export function readsAsNull(text: string): boolean {
  return text.length <= longestNullWord && nullWord.test(text);
}

/** Reads a field of that kind. (Design 4.) */
export function readField(kind: FieldKind, value: unknown): FieldText {
  switch (kind) {
    case 'guest-name':
      return readGuestName(value);
    case 'text':
      return readVisible(value);
    case 'id':
    case 'code':
    case 'date':
      return readCode(value);
  }
}

/** Reads a text for which the words for "no value" count as missing. */
export function readFieldText(value: unknown): FieldText {
  const text = readText(value);
  return typeof text === 'string' && readsAsNull(text) ? undefined : text;
}

/** Nobody can see what is left out, and the service would look for another provider. */
function readVisible(value: unknown): FieldText {
  const text = readFieldText(value);
  return typeof text === 'string' && text.search(invisible) >= 0
    ? readFieldText(text.replaceAll(invisible, ''))
    : text;
}

/** Reads an id or a date: the quotes around it are not part of it, and neither is what nobody can see. */
function readCode(value: unknown): FieldText {
  const text = readVisible(value);
  return typeof text === 'string' && mayBeQuoted.test(text) ? readFieldText(unquote(text)) : text;
}

function unquote(text: string): string {
  const isAround = (at: number) => quotes.has(text[at]) || /^\s$/.test(text[at] ?? '');
  let start = 0;
  let end = text.length;
  while (start < end && (isAround(start) || (text[start] === '=' && isAround(start + 1)))) start += 1;
  while (start < end && isAround(end - 1)) end -= 1;
  return text.slice(start, end);
}

/** True for a text with a character that somebody failed to read, or to write. */
export function isGarbled(text: string): boolean {
  return text.includes('\ufffd');
}

/** True for a number that a spreadsheet shortened, such as 1.23457E+11: the id that it was is lost. */
export function isRounded(text: string): boolean {
  return rounded.test(text);
}

/**
 * Reads a guest's name. People are called Null and None, so only the exact spellings that programs write count as
 * missing.
 */
function readGuestName(value: unknown): FieldText {
  const text = readText(value);
  switch (text) {
    case 'NULL':
    case 'null':
    case 'undefined':
    case 'NaN':
      return undefined;
    default:
      return text;
  }
}

function readText(value: unknown): FieldText {
  if (typeof value === 'string') return cleanText(value) || undefined;
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number') return writeNumber(value);
  return notText;
}

/**
 * A number is text that lost its quotes. If it also lost digits or gained an exponent, the original text is unknown.
 */
function writeNumber(value: number): FieldText {
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return notText;
  const text = String(value);
  return plainDecimal.test(text) ? text : notText;
}

/** Trims a text, makes it well-formed, and removes control characters, line breaks and the wrapping of `="00123"`. */
export function cleanText(text: string): string {
  // Fast path: nearly every text is clean already.
  if (clean.test(text)) return text;
  return unwrap(text.replace(unprintableRun, ' ').replace(loneSurrogate, '\ufffd').trim());
}

/** Exports write `="00123"` so that spreadsheets keep the zeros. Any other formula is a text like others. */
function unwrap(text: string): string {
  if (text.length < 3 || !text.startsWith('="') || !text.endsWith('"')) return text;
  const inner = text.slice(2, -1).replaceAll('""', '\0');
  return inner.includes('"') ? text : unwrap(inner.replaceAll('\0', '"').trim());
}
