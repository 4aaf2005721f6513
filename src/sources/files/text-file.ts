import { isUtf8 } from 'node:buffer';
import { type SourceChunk, SourceError, type SourceNotice, type SourceRecord } from '../../review/source.js';
import type { FileBlock } from './day-file.js';

/** The result of decoding a block, or the end of the file. */
export interface DecodedBlock {
  readonly records: readonly SourceRecord[];
  readonly notices: readonly SourceNotice[];
}

/** Decodes the bytes of one file, in blocks of any size, to records. Throws a SourceError for a file that can't be trusted. */
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
  let progress: SourceChunk['progress'];
  for await (const block of blocks) {
    progress = block.progress;
    yield* toChunks(decoder.decode(block.bytes), progress);
  }
  yield* toChunks(decoder.end(), progress);
  signal.throwIfAborted();
}

function* toChunks(
  { records, notices }: DecodedBlock,
  progress: SourceChunk['progress'],
): Generator<SourceChunk, void, undefined> {
  if (records.length === 0 && notices.length === 0) return;
  yield {
    records,
    ...(progress === undefined ? {} : { progress }),
    ...(notices.length === 0 ? {} : { notices }),
  };
}

const lineFeed = 0x0a;
const byteOrderMark = Buffer.from('\uFEFF');
const nothing: Buffer = Buffer.alloc(0);

type GateVerdict =
  | { readonly kind: 'text'; readonly bytes: Buffer }
  /** After this many line feeds of the block, there is a line that is not text. */
  | { readonly kind: 'binary'; readonly lineFeedsBefore: number };

/** Lets blocks of UTF-8 text through, and nothing else. */
interface TextGate {
  /** Returns the block's text up to its last complete character; the rest comes with the next block. */
  pass(block: Buffer): GateVerdict;
  /** Whether the input ended in the middle of a character. */
  endsInsideCharacter(): boolean;
}

/** NUL is valid UTF-8, but no text file has one. A leading byte order mark is dropped. */
export function createTextGate(): TextGate {
  let held = nothing;
  let begun = false;
  return {
    pass(block) {
      const joined = held.length === 0 ? block : Buffer.concat([held, block]);
      const whole = wholeCharacters(joined);
      held = joined.subarray(whole);
      let bytes = joined.subarray(0, whole);
      if (!isText(bytes)) return { kind: 'binary', lineFeedsBefore: countLineFeedsBeforeBinary(bytes) };
      if (!begun && bytes.length > 0) {
        begun = true;
        if (bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark))
          bytes = bytes.subarray(byteOrderMark.length);
      }
      return { kind: 'text', bytes };
    },
    endsInsideCharacter: () => held.length > 0,
  };
}

/** The error for a file that is not text on that line. */
export function explainBinary(path: string, line: number): SourceError {
  return new SourceError(
    'binary',
    `${path}, line ${line}, is not UTF-8 text: another encoding (UTF-16, Windows-1252), or no text at all`,
  );
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
