import type { RawBooking } from '../booking/booking.js';
import type { BusinessDay } from '../booking/business-day.js';
import type { Normalise, NormaliserFor } from '../booking/normalise.js';
import { decidingRecords } from '../booking/written-date.js';
import type { BookingSource, SourceChunk, SourceReading } from './source.js';

interface NormalisedChunk {
  readonly chunk: SourceChunk;
  readonly normalise: Normalise;
}

/** Reads a day's chunks, each with the normaliser that the day's first records call for. */
export async function* readNormalised(
  source: BookingSource,
  day: BusinessDay,
  normaliserFor: NormaliserFor,
  reading: SourceReading,
): AsyncGenerator<NormalisedChunk, void, undefined> {
  const deciding = Math.min(decidingRecords, reading.atMost ?? decidingRecords);
  let normalise: Normalise | undefined;
  let held: SourceChunk[] = [];
  let records = 0;

  function* release(): Generator<NormalisedChunk, void, undefined> {
    const chunks = held;
    const decided = normaliserFor(day.zone, () => listFirst(chunks));
    normalise = decided;
    for (const chunk of chunks) yield { chunk, normalise: decided };
    held = [];
  }

  try {
    for await (const chunk of source.read(day, reading)) {
      if (normalise !== undefined) {
        yield { chunk, normalise };
        continue;
      }
      held.push(chunk);
      records += chunk.records.length + (chunk.filtered ?? 0);
      if (records >= deciding) yield* release();
    }
  } catch (error) {
    // What was read before the source failed counts, as it would have without waiting.
    if (!reading.signal.aborted && normalise === undefined) yield* release();
    throw error;
  }
  if (normalise === undefined) yield* release();
}

function listFirst(chunks: readonly SourceChunk[]): RawBooking[] {
  const first: RawBooking[] = [];
  for (const { records } of chunks) {
    for (const record of records.slice(0, decidingRecords - first.length))
      if ('fields' in record) first.push(record.fields);
  }
  return first;
}
