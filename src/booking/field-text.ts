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

/** True for the words that mean "no value", in any case. (Spec 4.3, file rule 4.) */
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

/** Why a text can't be sent in a field. */
export type TextFault = 'id-rounded' | 'id-garbled';

/**
 * The rules of a kind of field. What they say of any text, `changes` says of a cell's bytes that `copyPlainText` copies: a rule has both,
 * or else the cells of the kind are read as texts, each different one once.
 */
interface FieldRules {
  /** What stands for a missing value is undefined. */
  read(value: unknown, placeholders: Placeholders): FieldText;
  /** Why a text that was read can't be sent; undefined if it can. */
  findFault?(text: string): TextFault | undefined;
  /** Reads cells from their bytes. */
  readonly plain?: {
    /** By byte in UTF-8: 1 for one that reading leaves as it is. */
    readonly marks: Uint8Array;
    /** Whether reading may change such a text, or find a fault in it. */
    changes(bytes: Uint8Array, start: number, end: number, placeholders: Placeholders): boolean;
  };
}

const apostrophe = 0x27;
const allBytes = new Uint8Array(0x100).fill(1);
const readUnlessPlaceholder = (value: unknown, placeholders: Placeholders): FieldText => {
  const text = readCode(value);
  return typeof text === 'string' && isPlaceholder(text, placeholders) ? undefined : text;
};

/** How the values of each kind are read and checked. */
export const fieldRules: Readonly<Record<FieldKind, FieldRules>> = {
  id: { read: readUnlessPlaceholder },
  code: {
    read: readUnlessPlaceholder,
    findFault(text) {
      if (isGarbled(text)) return 'id-garbled';
      return isRounded(text) ? 'id-rounded' : undefined;
    },
    plain: {
      // Quotes around it are no part of it, and outside ASCII there are more of them.
      marks: allBytes.map((_, byte) => (byte === apostrophe || byte >= firstOutsideAscii ? 0 : 1)),
      changes: (bytes, start, end, placeholders) =>
        endsInExponent(bytes, start, end) || isPlainPlaceholder(bytes, start, end, placeholders),
    },
  },
  text: { read: readVisible },
  'guest-name': { read: readGuestName, plain: { marks: allBytes, changes: () => false } },
  date: { read: readUnlessPlaceholder },
};

/** Reads a field of that kind; what stands for a missing value is undefined. */
export function readField(kind: FieldKind, value: unknown, placeholders: Placeholders = usual): FieldText {
  return fieldRules[kind].read(value, placeholders);
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

const plus = 0x2b;
const minus = 0x2d;
const letterE = 0x65;

/** Whether a text in bytes may be a rounded number: it ends like E+11, E-5 or E+308. */
function endsInExponent(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = Math.max(start + 1, end - 4); at < end - 1; at += 1) {
    const byte = bytes[at];
    if ((byte === plus || byte === minus) && ((bytes[at - 1] ?? 0) | 0x20) === letterE) return true;
  }
  return false;
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
