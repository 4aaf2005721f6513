import { readsAsNull } from './field-text.js';

/** By byte: 1 for ASCII digits. */
export const digitMarks = Uint8Array.from({ length: 0x100 }, (_, byte) =>
  byte >= 0x30 && byte <= 0x39 ? 1 : 0,
);

/** The text can't be copied unchanged. */
export const notPlain = -1;

const space = 0x20;
const firstOutsideAscii = 0x80;

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
