import type { SourceChunk, SourceRecord } from '../../src/booking/source.js';

/** The records of these chunks, without what their source holds besides what was asked for. */
export function listRecords(chunks: readonly SourceChunk[]): SourceRecord[] {
  return chunks.flatMap(({ records }) =>
    records.map((record) => {
      if ('unreadable' in record) return record;
      const { whole: _, ...asked } = record;
      return asked;
    }),
  );
}
