import type { LineWriter } from '../delivery.js';
import type { Slice } from '../step.js';

/** A UTF-16 unit takes at most three bytes in UTF-8. */
const bytesPerUnit = 3;
const notPlain = -1;

/** A growing buffer to append to. */
export interface LineBuffer extends LineWriter {
  readonly length: number;
  /** Memory with room for that many bytes after `length`; valid until the next call. */
  reserve(bytes: number): Buffer;
  /** Takes what was written into reserved memory, up to `end`. */
  extendTo(end: number): void;
  /** What was written so far; valid until more is. */
  written(): Buffer;
  /** Returns what was written, in memory that is no longer used here, and starts over. */
  handOver(): Buffer<ArrayBuffer>;
}

/** @param expectedBytes the initial capacity */
export function createLineBuffer(expectedBytes: number): LineBuffer {
  let bytes = Buffer.allocUnsafeSlow(0);
  let length = 0;

  function reserve(more: number): Buffer {
    if (length + more <= bytes.length) return bytes;
    // Outside Node's pool, because the result may be transferred to another thread.
    const larger = Buffer.allocUnsafeSlow(Math.max(expectedBytes, 2 * (length + more)));
    bytes.copy(larger, 0, 0, length);
    bytes = larger;
    return bytes;
  }

  return {
    constant(constant) {
      reserve(constant.length);
      length = copyTo(bytes, length, constant);
    },
    integer(value) {
      const digits = countDigits(value);
      reserve(digits);
      writeDigits(bytes, length, digits, value);
      length += digits;
    },
    field(before, text, form) {
      reserve(before.length + text.length * bytesPerUnit + form.after.length);
      const start = copyTo(bytes, length, before);
      const end = writePlain(bytes, start, text, form.plain);
      if (end === notPlain) {
        const escaped = form.escape(text);
        length = start;
        reserve(escaped.length * bytesPerUnit + form.after.length);
        length = copyTo(bytes, start + bytes.write(escaped, start), form.after);
      } else length = copyTo(bytes, end, form.after);
    },
    get length() {
      return length;
    },
    reserve,
    extendTo(end) {
      length = end;
    },
    written: () => bytes.subarray(0, length),
    handOver() {
      const written = bytes.subarray(0, length);
      bytes = Buffer.allocUnsafeSlow(0);
      length = 0;
      return written;
    },
  };
}

/** Returns the end of the copy. For a dozen bytes this loop is faster than calling `Buffer.copy`. */
export function copyTo(bytes: Buffer, start: number, copied: Uint8Array): number {
  const size = copied.length;
  for (let index = 0; index < size; index += 1) bytes[start + index] = copied[index] ?? 0;
  return start + size;
}

function countDigits(value: number): number {
  let digits = 1;
  for (let power = 10; power <= value; power *= 10) digits += 1;
  return digits;
}

function writeDigits(bytes: Buffer, start: number, digits: number, value: number): void {
  let rest = value;
  for (let at = start + digits - 1; at >= start; at -= 1) {
    const tenth = Math.floor(rest / 10);
    // Computed before adding 0x30: near 2^53 the sum would be rounded.
    const digit = rest - 10 * tenth;
    bytes[at] = 0x30 + digit;
    rest = tenth;
  }
}

/**
 * Returns the end of the text written at `start`, or `notPlain` if it contains a surrogate or a character that is not
 * plain. Texts are short, so the loop is faster than calling Buffer's `write`.
 */
function writePlain(bytes: Buffer, start: number, text: string, plain: Uint8Array): number {
  let at = start;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code < 0x80) {
      if (plain[code] === 0) return notPlain;
      bytes[at++] = code;
    } else if (code < 0x800) {
      bytes[at++] = 0xc0 | (code >> 6);
      bytes[at++] = 0x80 | (code & 0x3f);
    } else if (code < 0xd800 || code > 0xdfff) {
      bytes[at++] = 0xe0 | (code >> 12);
      bytes[at++] = 0x80 | ((code >> 6) & 0x3f);
      bytes[at++] = 0x80 | (code & 0x3f);
    } else return notPlain;
  }
  return at;
}

const lineFeed = 0x0a;

/**
 * The lines of a slice, each with its line end, as a view into its stored batch.
 *
 * @throws RangeError when the batch has fewer lines
 */
export function sliceLines(lines: Buffer, { first, bookings }: Pick<Slice, 'first' | 'bookings'>): Buffer {
  const start = skipLines(lines, 0, first);
  return lines.subarray(start, skipLines(lines, start, bookings));
}

function skipLines(lines: Buffer, from: number, count: number): number {
  let at = from;
  for (let skipped = 0; skipped < count; skipped += 1) {
    at = lines.indexOf(lineFeed, at) + 1;
    if (at === 0) throw new RangeError('a stored batch has fewer bookings than its step');
  }
  return at;
}
