import { endsWithReturns } from '../../text/encoding.js';
import { beginDecoding, nothingDecoded } from './begin-decoding.js';
import type { DecodedBlock, FileDecoder } from './text-file.js';

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
/** What old systems write after the last line: Control-Z. */
const endMark = 0x1a;

const nothing: Buffer = Buffer.alloc(0);
/** How lines end is decided by this many bytes. More end marks than this are text. */
const longestHeld = 64 * 1024;

/**
 * Wraps a decoder of lines that end with LF or CRLF, so that it also reads files whose lines end with CR only, and files
 * with an end mark after the last line.
 */
export function unifyLineEnds(decoder: FileDecoder): FileDecoder {
  return beginDecoding((bytes, isWhole) => {
    return isWhole || bytes.length >= longestHeld
      ? {
          decoder: createUnifier(
            decoder,
            endsWithReturns(bytes.subarray(0, longestHeld)) ? replaceReturns : undefined,
          ),
          rest: bytes,
        }
      : undefined;
  });
}

/** The same for a text that is there as a whole, or the beginning of one. */
export function unifyText(bytes: Buffer): Buffer {
  const text = endsWithReturns(bytes.subarray(0, longestHeld)) ? replaceReturns(bytes) : bytes;
  return text.subarray(0, findEndMark(text));
}

function createUnifier(decoder: FileDecoder, unify: ((bytes: Buffer) => Buffer) | undefined): FileDecoder {
  /** What may be the file's end. */
  let held = nothing;

  function pass(bytes: Buffer): DecodedBlock {
    const mark = findEndMark(bytes);
    const end = bytes.length - mark > longestHeld ? bytes.length : mark;
    held = bytes.subarray(end);
    return end === 0 ? nothingDecoded : decoder.decode(bytes.subarray(0, end));
  }

  return {
    decode(block) {
      const text = unify?.(block) ?? block;
      return pass(held.length === 0 ? text : Buffer.concat([held, text]));
    },
    end: decoder.end,
  };
}

function replaceReturns(bytes: Buffer): Buffer {
  const text = Buffer.from(bytes);
  for (let at = text.indexOf(carriageReturn); at !== -1; at = text.indexOf(carriageReturn, at + 1))
    text[at] = lineFeed;
  return text;
}

/** Where end marks begin that nothing follows but line ends; without any, the end of the bytes. */
function findEndMark(bytes: Buffer): number {
  let end = bytes.length;
  for (let at = bytes.length - 1; at >= 0; at -= 1) {
    const byte = bytes[at];
    if (byte === endMark) end = at;
    else if (byte !== lineFeed && byte !== carriageReturn) break;
  }
  return end;
}
