import { type Booking, listTexts, textFields } from '../booking/booking.js';

/** A UTF-16 unit takes at most three bytes in UTF-8. */
const bytesPerUnit = 3;
const notPlain = -1;

/** How texts are written in a line. */
export interface TextForm {
  /** By ASCII code: 1 if the character needs no escaping anywhere in a text. */
  readonly plain: Uint8Array;
  /** Escapes a text that contains a character which is neither plain nor outside ASCII. */
  escape(text: string): string;
  /** Written after the text. */
  readonly after: Uint8Array;
}

/** What a booking's line consists of. */
export interface LineLayout {
  /** Written before the master id. */
  readonly beginning: Uint8Array;
  /** Written before the text of each other field, in the table's order. */
  readonly beforeTexts: readonly Uint8Array[];
  readonly text: TextForm;
  /** Converts a date from YYYY-MM-DD. */
  readonly writeDate: (iso: string) => string;
  /** Written for a missing field. */
  readonly missing: Uint8Array;
  readonly ending: Uint8Array;
}

/** The table of plain characters. */
export function markPlain(isPlain: (character: string) => boolean): Uint8Array {
  return Uint8Array.from({ length: 0x80 }, (_, code) => (isPlain(String.fromCharCode(code)) ? 1 : 0));
}

export type LineBuffer = ReturnType<typeof createLineBuffer>;

/**
 * A growing buffer in which lines are written piece by piece, as UTF-8. Building a string per line would take twice the time.
 *
 * @param expectedBytes the initial capacity
 */
export function createLineBuffer(expectedBytes: number) {
  let bytes = Buffer.allocUnsafeSlow(0);
  let length = 0;

  /** Memory with room for that many bytes after `length`; valid until the next call. */
  function reserve(more: number): Buffer {
    if (length + more <= bytes.length) return bytes;
    // Outside Node's pool, because the result may be transferred to another thread.
    const larger = Buffer.allocUnsafeSlow(Math.max(expectedBytes, 2 * (length + more)));
    bytes.copy(larger, 0, 0, length);
    bytes = larger;
    return bytes;
  }

  return {
    /** Writes bytes as they are. */
    constant(constant: Uint8Array): void {
      reserve(constant.length);
      length = copyTo(bytes, length, constant);
    },
    /** Writes a text, with `before` in front of it. */
    field(before: Uint8Array, text: string, form: TextForm): void {
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
    get length(): number {
      return length;
    },
    reserve,
    /** Takes what was written into reserved memory, up to `end`. */
    extendTo(end: number): void {
      length = end;
    },
    /** What was written so far; valid until more is. */
    written: (): Buffer => bytes.subarray(0, length),
    /** Returns what was written, in memory that is no longer used here, and starts over. */
    handOver(): Buffer<ArrayBuffer> {
      const written = bytes.subarray(0, length);
      bytes = Buffer.allocUnsafeSlow(0);
      length = 0;
      return written;
    },
  };
}

const isDate = textFields.map(({ kind }) => kind === 'date');

/** Renders a booking as one line, without a line end. */
export function renderLine(booking: Booking, layout: LineLayout, line: LineBuffer): void {
  const { beforeTexts, writeDate, missing } = layout;
  line.constant(layout.beginning);
  line.constant(Buffer.from(String(booking.serviceId)));
  const texts = listTexts(booking);
  for (let at = 0; at < texts.length; at += 1) {
    const before = beforeTexts[at];
    const text = texts[at];
    if (before === undefined || text === undefined) line.constant(missing);
    else line.field(before, isDate[at] ? writeDate(text) : text, layout.text);
  }
  line.constant(layout.ending);
}

/** Returns the end of the copy. For a dozen bytes this loop is faster than calling `Buffer.copy`. */
export function copyTo(bytes: Buffer, start: number, copied: Uint8Array): number {
  const size = copied.length;
  for (let index = 0; index < size; index += 1) bytes[start + index] = copied[index] ?? 0;
  return start + size;
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
