/** A value that is not text and can't be converted to text without guessing. */
export const notText = Symbol('not text');

/** A field's normalised text; undefined when missing. */
export type FieldText = string | undefined | typeof notText;

// `\s` is what `trim` removes: Unicode white space and the byte order mark.
const clean = /^(?!\s)[^\p{Cc}\u2028\u2029\p{Cs}]+(?<!\s)$/u;
const unprintableRun = /[\p{Cc}\u2028\u2029]+/gu;
const loneSurrogate = /\p{Cs}/gu;
const nullWord = /^(?:null|none|undefined|nan)$/i;
const longestNullWord = 'undefined'.length;
const plainDecimal = /^-?\d+(?:\.\d+)?$/;

/** True for the words that mean "no value", in any case. (Spec 4.3, file rule 4; design 4.) */
export function readsAsNull(text: string): boolean {
  return text.length <= longestNullWord && nullWord.test(text);
}

/** Reads any field but a guest's name. (Design 4.) */
export function readFieldText(value: unknown): FieldText {
  const text = readText(value);
  return typeof text === 'string' && readsAsNull(text) ? undefined : text;
}

/**
 * Reads a guest's name. People are called Null and None, so only the exact spellings that programs write count as
 * missing.
 */
export function readGuestName(value: unknown): FieldText {
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

/** Trims a text, makes it well-formed, and removes control characters and line breaks. */
export function cleanText(text: string): string {
  // Fast path: nearly every text is clean already.
  if (clean.test(text)) return text;
  return text.replace(unprintableRun, ' ').replace(loneSurrogate, '\ufffd').trim();
}
