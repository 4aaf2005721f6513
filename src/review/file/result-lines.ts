import {
  createConverter,
  decodeLines,
  type Encoding,
  guessEncoding,
  nameContainer,
  readByteOrderMark,
} from '../../text/encoding.js';
import { endsWithReturns } from '../../text/line-ends.js';

/** Longer than any line of a reasonable result, in bytes. */
export const longestLine = 1_000_000;

export interface ResultLine {
  /** Counted from 1. */
  readonly number: number;
  /** Without its line end; undefined for a line that is too long. */
  readonly text: string | undefined;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
/** So many bytes show how lines end. */
const firstBytes = 64 * 1024;
/** What old systems write at the end of a text. */
const endMarks = ['\0', '\u001a'];

/**
 * Splits bytes into lines of text, ended by LF, CRLF, or by CR where most lines are. A byte order mark is dropped.
 * What doesn't look like UTF-16 is UTF-8, and a line of it that is not valid UTF-8 is Windows-1252: so it is read in the same way
 * however the bytes arrive.
 */
export function createResultLines() {
  let encoding: Encoding | undefined;
  let container: string | undefined;
  let convert = (block: Buffer) => block;
  let finish = (): Buffer => Buffer.alloc(0);
  let lineEnd: number | undefined;
  /** The start of the current line, or of the file. */
  let pending: Buffer = Buffer.alloc(0);
  let isTooLong = false;
  let number = 0;

  function toLine(text: string): ResultLine {
    number += 1;
    if (isTooLong) {
      isTooLong = false;
      return { number, text: undefined };
    }
    const begun = text.startsWith('\ufeff') ? text.slice(1) : text;
    return { number, text: begun.endsWith('\r') ? begun.slice(0, -1) : begun };
  }

  /** Decodes what was kept, once enough of it is there. */
  function begin(isEnd: boolean): void {
    if (encoding === undefined) {
      if (pending.length < firstBytes && !isEnd && !pending.includes(lineFeed)) return;
      encoding = readByteOrderMark(pending)?.encoding ?? guessUnits(pending);
      container = nameContainer(pending);
      const converter = createConverter(encoding, { isLenient: true });
      if (converter) ({ convert, end: finish } = converter);
      pending = convert(pending);
    }
    if (isEnd || pending.length >= firstBytes)
      lineEnd = endsWithReturns(pending.subarray(0, firstBytes)) ? carriageReturn : lineFeed;
  }

  function findLastEnd(): number {
    if (lineEnd === undefined) return -1;
    const last = pending.lastIndexOf(lineFeed);
    return lineEnd === lineFeed ? last : Math.max(last, pending.lastIndexOf(carriageReturn));
  }

  function cut(): ResultLine[] {
    const last = findLastEnd();
    const lines =
      last === -1
        ? []
        : decodeLines(pending.subarray(0, last))
            .split(lineEnd === lineFeed ? '\n' : /[\r\n]/)
            .map(toLine);
    pending = pending.subarray(last + 1);
    if (pending.length > longestLine) {
      pending = Buffer.alloc(0);
      isTooLong = true;
    }
    return lines;
  }

  return {
    take(block: Uint8Array): ResultLine[] {
      const bytes = Buffer.from(block.buffer, block.byteOffset, block.byteLength);
      pending = Buffer.concat([pending, convert(bytes)]);
      if (lineEnd === undefined) begin(false);
      return cut();
    },
    /** The lines that are left, and the last one if it has no line end. */
    end(): { readonly lines: ResultLine[]; readonly unended: ResultLine[] } {
      if (lineEnd === undefined) begin(true);
      pending = Buffer.concat([pending, finish()]);
      const lines = cut();
      const text = decodeLines(pending);
      const rest = endMarks.reduce((left, mark) => left.replaceAll(mark, ''), text);
      return { lines, unended: isTooLong || rest !== '' ? [toLine(text)] : [] };
    },
    /** Known once there are lines. */
    get found() {
      return { encoding: encoding ?? 'utf-8', container };
    },
    /** What ends the lines; a CR may precede an LF. */
    get lineEnd(): '\r' | '\n' {
      return lineEnd === carriageReturn ? '\r' : '\n';
    },
  };
}

function guessUnits(bytes: Buffer): Encoding {
  const guess = guessEncoding(bytes.subarray(0, firstBytes));
  return guess === 'utf-16le' || guess === 'utf-16be' ? guess : 'utf-8';
}
