import { setImmediate } from 'node:timers/promises';
import { csvLines } from './csv-lines.js';
import { createDayCounter, type DayCounts } from './day-counts.js';
import { type MadeDay, makeBookings } from './made-bookings.js';
import { ndjsonLines } from './ndjson-lines.js';
import type { RecordLines } from './record-lines.js';

export const dayFormats = ['csv', 'ndjson'] as const;

export type DayFormat = (typeof dayFormats)[number];

const linesOf: Readonly<Record<DayFormat, RecordLines>> = { csv: csvLines, ndjson: ndjsonLines };
const chunkLength = 64 * 1024;

/** A made-up day in one format, as it is asked for. */
export interface DayText {
  /** To be read once. It stops with the signal's reason when that aborts. */
  readonly chunks: AsyncIterable<string>;
  /** What the chunks held that were read so far. */
  counts(): DayCounts;
}

/** @throws RangeError for a day that can't be made up */
export function renderDay(
  day: MadeDay,
  format: DayFormat,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): DayText {
  const lines = linesOf[format];
  const counter = createDayCounter(lines.reasons);
  const records = makeBookings(day);

  async function* render(): AsyncGenerator<string, void> {
    let chunk = day.count === 0 ? lines.emptyDay : lines.header;
    for (const record of records) {
      counter.add(record);
      chunk += lines.write(record);
      if (chunk.length < chunkLength) continue;
      // A sink that takes everything at once would let no signal through.
      await setImmediate();
      signal?.throwIfAborted();
      yield chunk;
      chunk = '';
    }
    yield chunk;
  }
  return { chunks: render(), counts: counter.counts };
}
