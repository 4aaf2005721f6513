import type { SourceChunk, SourceRecord } from '../../review/source.js';

/** How many records a chunk has at most, where nothing else decides that. */
export const recordsInChunk = 1_000;

/** Hands records over in chunks, reading no further than the chunk at hand; an input without records has none. */
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
