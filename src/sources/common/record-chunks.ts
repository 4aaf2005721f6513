import type { SourceChunk, SourceRecord } from '../../booking/source.js';

/** The default maximum of records per chunk. */
export const recordsInChunk = 1_000;

/** Groups records into chunks and reads no further than the current one. Without records there are no chunks. */
export function* toChunks(
  records: Iterable<SourceRecord>,
  size: number = recordsInChunk,
): Generator<SourceChunk, void, undefined> {
  let chunk: SourceRecord[] = [];
  for (const record of records) {
    chunk.push(record);
    if (chunk.length < size) continue;
    yield { records: chunk };
    chunk = [];
  }
  if (chunk.length > 0) yield { records: chunk };
}
