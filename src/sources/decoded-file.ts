import type { SourceChunk, SourceNotice, SourceRecord } from '../review/source.js';
import type { FileBlock } from './files/day-file.js';

/** What has come of a block, or of the end. */
export interface DecodedBlock {
  readonly records: readonly SourceRecord[];
  readonly notices: readonly SourceNotice[];
}

/** Turns the bytes of one file, in blocks of any size, into records. It throws a SourceError for a file it can't trust. */
export interface FileDecoder {
  decode(block: Buffer): DecodedBlock;
  end(): DecodedBlock;
}

/**
 * Streams a file's blocks through its decoder, a chunk for each block that something came of.
 *
 * @throws SourceError the decoder's own, and those of the reading; the signal's reason when it aborts.
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
