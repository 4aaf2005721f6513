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
const firstOutsideAscii = 0x80;

/** True for the words that mean "no value", in any case. (Spec 4.3, file rule 4; design 4.) */
export function readsAsNull(text: string): boolean {
  return text.length <= longestNullWord && nullWord.test(text);
}

/** What databases, spreadsheets and their clients write for a missing id or date. A name may be such a text. */
const usualPlaceholders = ['\\N', '#N/A', '#REF!', '(null)', '<null>', 'n/a', '-'];

/** The words that stand for a missing id or date besides those that read as null. */
export interface Placeholders {
  /** As `foldCase` writes them. */
  readonly words: ReadonlySet<string>;
  /** The length of the longest word by its first character, which is ASCII. */
  readonly longest: Uint16Array;
}

/** @param added words of the source's own */
export function createPlaceholders(added: readonly string[] = []): Placeholders {
  const words = new Set([...usualPlaceholders, ...added].map((word) => foldCase(cleanText(word))));
  const longest = new Uint16Array(firstOutsideAscii);
  for (const word of words) {
    const decomposed = word.normalize('NFD');
    for (const spelling of [decomposed, decomposed.toUpperCase()]) {
      const first = spelling.charCodeAt(0);
      longest[first] = Math.max(longest[first] ?? 0, spelling.length);
    }
  }
  return { words, longest };
}

const usual = createPlaceholders();

/** Reads a field of that kind; what stands for a missing value is undefined. (Design 4.) */
export function readField(kind: FieldKind, value: unknown, placeholders: Placeholders = usual): FieldText {
  switch (kind) {
    case 'guest-name':
      return readGuestName(value);
    case 'text':
      return readVisible(value);
    case 'id':
    case 'code':
    case 'date': {
      const text = readCode(value);
      return typeof text === 'string' && isPlaceholder(text, placeholders) ? undefined : text;
    }
  }
}

function isPlaceholder(text: string, { words, longest }: Placeholders): boolean {
  const most = longest[text.charCodeAt(0)] ?? Number.POSITIVE_INFINITY;
  return text.length <= most && words.has(foldCase(text));
}

/** The same for a text of ASCII bytes. */
export function isPlainPlaceholder(
  bytes: Uint8Array,
  start: number,
  end: number,
  { words, longest }: Placeholders,
): boolean {
  if (end - start > (longest[bytes[start] ?? 0] ?? 0)) return false;
  return words.has(foldCase(Buffer.from(bytes.subarray(start, end)).toString('latin1')));
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

/** The same text for all spellings of a word in upper and lower case, in any language's rules. */
export function foldCase(text: string): string {
  return text.normalize('NFC').toLowerCase();
}

/** Exports write `="00123"` so that spreadsheets keep the zeros. Any other formula is a text like others. */
function unwrap(text: string): string {
  if (text.length < 3 || !text.startsWith('="') || !text.endsWith('"')) return text;
  const inner = text.slice(2, -1).replaceAll('""', '\0');
  return inner.includes('"') ? text : unwrap(inner.replaceAll('\0', '"').trim());
}

/** By byte: 1 for ASCII digits. */
export const digitMarks = Uint8Array.from({ length: 0x100 }, (_, byte) =>
  byte >= 0x30 && byte <= 0x39 ? 1 : 0,
);

/** The text can't be copied unchanged. */
export const notPlain = -1;

const space = 0x20;

/**
 * By byte of a text in UTF-8: 1 if a text stays as it is with that byte anywhere but at its ends. Control characters are
 * excluded, and so are the lead bytes of U+0080 (more control characters), of U+2028 and U+2029, and of U+FEFF and U+FFFD.
 *
 * @param ascii by code: 1 for a character that is written as it is
 */
export function markPlainBytes(ascii: Uint8Array): Uint8Array {
  return Uint8Array.from({ length: 0x100 }, (_, byte) => {
    if (byte < firstOutsideAscii) return byte >= space && byte !== 0x7f ? (ascii[byte] ?? 0) : 0;
    return byte === 0xc2 || byte === 0xe2 || byte === 0xef ? 0 : 1;
  });
}

/**
 * Copies a text that normalising and rendering leave unchanged: returns the end of the copy, or `notPlain`, which it may
 * also return for a text that would stay unchanged.
 *
 * @param source valid UTF-8 from `start` to `end`, at least one byte
 */
export function copyPlainText(
  source: Uint8Array,
  start: number,
  end: number,
  marks: Uint8Array,
  target: Uint8Array,
  at: number,
): number {
  if (source[start] === space || source[end - 1] === space) return notPlain;
  const shift = at - start;
  let wide = 0;
  for (let index = start; index < end; index += 1) {
    const byte = source[index] ?? 0;
    if (marks[byte] === 0) return notPlain;
    wide |= byte;
    target[index + shift] = byte;
  }
  if (wide >= firstOutsideAscii && (isWideSpace(source, start) || isWideSpace(source, end - 3)))
    return notPlain;
  const letter = (source[start] ?? 0) | 0x20;
  const mayReadAsNull = letter === 0x6e || letter === 0x75;
  if (!mayReadAsNull) return end + shift;
  const text = Buffer.from(source.buffer, source.byteOffset + start, end - start).toString('latin1');
  return readsAsNull(text) ? notPlain : end + shift;
}

/** White space of three bytes that `trim` removes and whose lead byte is plain: U+1680 and U+3000. */
function isWideSpace(bytes: Uint8Array, at: number): boolean {
  const character = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
  return character === 0xe19a80 || character === 0xe38080;
}
