import { isAscii, isUtf8 } from 'node:buffer';
import {
  createConverter,
  type Encoding,
  endsWithReturns,
  isByteEncoding,
  listLikelyEncodings,
  nameContainer,
  readByteOrderMark,
} from '../../base/encoding.js';
import { type SourceChunk, SourceError, type SourceNotice, type SourceRecord } from '../../booking/source.js';
import type { FileBlock } from './day-file.js';

/** The result of decoding a block, or the end of the file. */
export interface DecodedBlock {
  readonly records: readonly SourceRecord[];
  readonly notices: readonly SourceNotice[];
}

/** Decodes one file's text in UTF-8, in blocks of any size, to records. Throws a SourceError for a file that can't be trusted. */
export interface FileDecoder {
  decode(block: Buffer): DecodedBlock;
  end(): DecodedBlock;
}

/**
 * Streams a file's blocks through its decoder. Yields one chunk for each block that produced anything.
 *
 * @throws SourceError from the decoder and from `blocks`; the signal's reason when it aborts
 */
export async function* decodeFile(
  blocks: AsyncIterable<FileBlock>,
  decoder: FileDecoder,
  signal: AbortSignal,
): AsyncGenerator<SourceChunk, void, undefined> {
  let progress: FileBlock['progress'] | undefined;
  for await (const block of blocks) {
    progress = block.progress;
    const decoded = decoder.decode(block.bytes);
    if (!isNothing(decoded)) yield { ...decoded, progress };
  }
  const decoded = decoder.end();
  if (!isNothing(decoded)) yield progress ? { ...decoded, progress } : decoded;
  signal.throwIfAborted();
}

const isNothing = ({ records, notices }: DecodedBlock) => records.length + notices.length === 0;

const lineFeed = 0x0a;
const nothing: Buffer = Buffer.alloc(0);

/**
 * Wraps a decoder for a file in that encoding; a byte order mark takes precedence. UTF-8 is passed on as it is, but with
 * line ends that all decoders know, and without an end mark after the last line.
 *
 * @param path for messages
 */
export function convertText(decoder: FileDecoder, path: string, encoding: Encoding): FileDecoder {
  return beginDecoding((bytes, isWhole) => {
    if (bytes.length < longestHeld && !isWhole) return undefined;
    const { actual, text } = findEncoding(bytes, path, encoding);
    return { decoder: createTextDecoder(decoder, path, actual), rest: text };
  });
}

/** @throws SourceError for a container such as a workbook */
function findEncoding(bytes: Buffer, path: string, encoding: Encoding) {
  const container = nameContainer(bytes);
  if (container !== undefined) {
    throw new SourceError('binary', `${path} is ${container}: export the bookings as CSV`);
  }
  const mark = readByteOrderMark(bytes);
  return { actual: mark?.encoding ?? encoding, text: bytes.subarray(mark?.length ?? 0) };
}

/** The first block shows how lines end. */
function createTextDecoder(decoder: FileDecoder, path: string, encoding: Encoding): FileDecoder {
  const converter = createConverter(encoding);
  const isFullOfUtf8 = isByteEncoding(encoding) ? createUtf8Watch() : () => false;
  let hasReturns: boolean | undefined;
  /** What may be the file's end. */
  let held = nothing;
  const orFault = <Result>(convert: () => Result, fault: 'binary' | 'truncated', reason: string): Result => {
    try {
      return convert();
    } catch {
      throw new SourceError(fault, `${path} ${reason}`);
    }
  };
  return {
    decode(block) {
      const isUtf8SoFar = isFullOfUtf8(block);
      const text = orFault(() => converter?.convert(block) ?? block, 'binary', `is not text in ${encoding}`);
      hasReturns ??= endsWithReturns(text.subarray(0, longestHeld));
      const unified = hasReturns ? replaceReturns(text) : text;
      const bytes = held.length === 0 ? unified : Buffer.concat([held, unified]);
      const mark = findEndMark(bytes);
      const end = bytes.length - mark > longestHeld ? bytes.length : mark;
      held = bytes.subarray(end);
      try {
        return end === 0 ? nothingDecoded : decoder.decode(bytes.subarray(0, end));
      } catch (error) {
        // The names of the columns are not found then, or a cell seems to be cut off.
        throw isUtf8SoFar && error instanceof SourceError ? explainUtf8(path, encoding) : error;
      }
    },
    end() {
      if (isFullOfUtf8(nothing, true)) throw explainUtf8(path, encoding);
      orFault(() => converter?.end(), 'truncated', 'ends in the middle of a character');
      return decoder.end();
    },
  };
}

/**
 * Whether the blocks so far have bytes beyond ASCII, all of which are valid UTF-8. In a text of another encoding that is next to
 * impossible: each of its accented letters would have to stand before the right symbol.
 */
function createUtf8Watch(): (block: Buffer, isEnd?: boolean) => boolean {
  const cutter = createCharacterCutter();
  let isValid = true;
  let isBeyondAscii = false;
  return (block, isEnd = false) => {
    if (!isValid) return false;
    isBeyondAscii ||= !isAscii(block);
    isValid = isText(cutter.cut(block)) && !(isEnd && cutter.isInside());
    return isValid && isBeyondAscii;
  };
}

/** The error for UTF-8 that is to be read in another encoding, which would garble it. */
function explainUtf8(path: string, encoding: Encoding): SourceError {
  return new SourceError(
    'wrong-encoding',
    `${path} is UTF-8 text, but source.encoding is ${encoding}, which would garble the names in it: set source.encoding: utf-8`,
  );
}

/** The beginning of a file's text. */
export interface UnknownText {
  readonly text: string;
  readonly encoding: Encoding;
  /** What else fits, if the encoding is only a guess; undefined if the bytes say it. */
  readonly otherEncodings?: readonly Encoding[] | undefined;
  /** A byte order mark states the encoding, whatever is configured. */
  readonly isMarked: boolean;
}

/**
 * The text of a file's beginning and its encoding, determined by a byte order mark or by what it looks like.
 *
 * @throws SourceError `binary`
 */
export function readUnknownText(bytes: Buffer, path: string): UnknownText {
  const mark = readByteOrderMark(bytes);
  // The beginning may end in the middle of a character.
  const [likely = 'utf-8', ...others] = listLikelyEncodings(bytes.subarray(0, wholeCharacters(bytes)));
  const encoding = mark?.encoding ?? likely;
  const { text } = findEncoding(bytes, path, encoding);
  const bytesOfText = createTextGate(path).pass(createConverter(encoding)?.convert(text) ?? text, () => 1);
  return {
    text: unifyText(bytesOfText).toString(),
    encoding,
    otherEncodings: mark === undefined && encoding !== 'utf-8' ? others : undefined,
    isMarked: mark !== undefined,
  };
}

/** Cuts blocks of UTF-8 after their last complete character; the rest comes with the next block. */
function createCharacterCutter() {
  let held = nothing;
  return {
    cut(block: Buffer): Buffer {
      const joined = held.length === 0 ? block : Buffer.concat([held, block]);
      const whole = wholeCharacters(joined);
      held = joined.subarray(whole);
      return joined.subarray(0, whole);
    },
    /** Whether the input so far ends in the middle of a character. */
    isInside: () => held.length > 0,
  };
}

/** Lets blocks of UTF-8 text through, and nothing else. NUL is valid UTF-8, but no text file has one. */
export function createTextGate(path: string) {
  const cutter = createCharacterCutter();
  return {
    /**
     * Returns the block's text up to its last complete character.
     *
     * @param findLine the line on which it begins
     * @throws SourceError `binary`
     */
    pass(block: Buffer, findLine: () => number): Buffer {
      const bytes = cutter.cut(block);
      if (!isText(bytes)) throw explainBinary(path, findLine() + countLineFeedsBeforeBinary(bytes), bytes);
      return bytes;
    },
    endsInsideCharacter: cutter.isInside,
  };
}

/**
 * The error for a file that is not text on that line.
 *
 * @param bytes of the file around that line
 */
function explainBinary(path: string, line: number, bytes: Buffer): SourceError {
  const [guess, ...others] = listLikelyEncodings(bytes);
  const advice =
    guess === undefined || guess === 'utf-8'
      ? 'another encoding (see source.encoding), or no text at all'
      : `it looks like ${guess}: set source.encoding. ${describeGuess(others)}; doctor shows some names in it`;
  return new SourceError('binary', `${path}, line ${line}, is not UTF-8 text: ${advice}`);
}

const list = new Intl.ListFormat('en');

/** @param others that fit as well */
export function describeGuess(others: readonly string[]): string {
  return others.length === 0
    ? 'That is a guess, though no other known encoding fits'
    : `That is a guess: ${list.format(others)} would fit, too`;
}

function isText(bytes: Buffer): boolean {
  return isUtf8(bytes) && !bytes.includes(0);
}

/** How many bytes come before a character that is cut off at the end. */
function wholeCharacters(bytes: Buffer): number {
  for (let fromEnd = 1; fromEnd <= Math.min(3, bytes.length); fromEnd++) {
    const byte = bytes[bytes.length - fromEnd] ?? 0;
    if (byte < 0x80) return bytes.length;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return length > fromEnd ? bytes.length - fromEnd : bytes.length;
  }
  return bytes.length;
}

function countLineFeedsBeforeBinary(bytes: Buffer): number {
  let lineFeeds = 0;
  for (let start = 0; ; lineFeeds++) {
    const end = bytes.indexOf(lineFeed, start);
    if (end === -1 || !isText(bytes.subarray(start, end))) return lineFeeds;
    start = end + 1;
  }
}

const nothingDecoded: DecodedBlock = { records: [], notices: [] };

/** How to read a file, and what of its beginning is still to be read that way. */
interface Beginning {
  readonly decoder: FileDecoder;
  readonly rest: Buffer;
}

/**
 * Holds a file's beginning until it shows how to read the file.
 *
 * @param begin undefined if more bytes are needed; at the end of the file there are none
 */
export function beginDecoding(
  begin: (bytes: Buffer, isWhole: boolean) => Beginning | undefined,
): FileDecoder {
  let held = nothing;
  let decoder: FileDecoder | undefined;

  function decodeHeld(isWhole: boolean): DecodedBlock {
    const beginning = begin(held, isWhole);
    if (beginning === undefined) return nothingDecoded;
    decoder = beginning.decoder;
    held = nothing;
    return decoder.decode(beginning.rest);
  }

  return {
    decode(block) {
      if (decoder !== undefined) return decoder.decode(block);
      held = held.length === 0 ? block : Buffer.concat([held, block]);
      return decodeHeld(false);
    },
    end() {
      const first = decoder === undefined ? decodeHeld(true) : nothingDecoded;
      return joinDecoded(first, decoder?.end() ?? nothingDecoded);
    },
  };
}

function joinDecoded(first: DecodedBlock, last: DecodedBlock): DecodedBlock {
  return { records: [...first.records, ...last.records], notices: [...first.notices, ...last.notices] };
}

const carriageReturn = 0x0d;
/** What old systems write after the last line: Control-Z. */
const endMark = 0x1a;

/** How lines end is decided by this many bytes. More end marks than this are text. */
const longestHeld = 64 * 1024;

/** Line ends that all decoders know, in a text that is there as a whole, or in the beginning of one. */
function unifyText(bytes: Buffer): Buffer {
  const text = endsWithReturns(bytes.subarray(0, longestHeld)) ? replaceReturns(bytes) : bytes;
  return text.subarray(0, findEndMark(text));
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
