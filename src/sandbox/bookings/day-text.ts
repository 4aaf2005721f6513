import { setImmediate } from 'node:timers/promises';
import { type MadeDay, makeBookings } from './made-bookings.js';
import type { Flaw, MadeRecord, OptionalField } from './made-record.js';
import { csvLines, ndjsonLines, type RecordLines } from './record-formats.js';

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

/** What a made-up day holds. records = bookings + duplicates + rejected */
export interface DayCounts {
  readonly records: number;
  /** Those that can be reviewed, each once. */
  readonly bookings: number;
  readonly duplicates: number;
  readonly rejected: number;
  /** The rejected ones by `hotel-review`'s reasons. */
  readonly rejects: readonly { readonly reason: string; readonly count: number }[];
  /** Bookings that lack a field; each lacks one. */
  readonly incomplete: number;
  readonly missing: Readonly<Partial<Record<OptionalField, number>>>;
  /** Bookings that can't stand in a review file: the incomplete ones, and guests whose name reads as null. (Spec 4.3.) */
  readonly unfitForFile: number;
  readonly wrongMappings: number;
  /** Those of them that can't stand in a review file. */
  readonly wrongUnfitForFile: number;
  /** The booking references of the first few of them. */
  readonly wrongReferences: readonly string[];
}

export interface DayCounter {
  add(record: MadeRecord): void;
  counts(): DayCounts;
}

const shownReferences = 5;
const readsAsNull = /^(?:null|none)$/i;

export function createDayCounter(reasons: Readonly<Record<Flaw, string>>): DayCounter {
  const sums = { bookings: 0, duplicates: 0, rejected: 0, incomplete: 0, unfitForFile: 0 };
  const rejects = new Map<string, number>();
  const missing: Partial<Record<OptionalField, number>> = {};
  const wrong = { wrongMappings: 0, wrongUnfitForFile: 0 };
  const wrongReferences: string[] = [];

  function addBooking({ missing: field, bookingClientName: guest, isWrong, bookingReferenceId }: MadeRecord) {
    sums.bookings += 1;
    if (field !== undefined) {
      sums.incomplete += 1;
      missing[field] = (missing[field] ?? 0) + 1;
    }
    const isUnfit = field !== undefined || (typeof guest === 'string' && readsAsNull.test(guest));
    if (isUnfit) sums.unfitForFile += 1;
    if (!isWrong) return;
    wrong.wrongMappings += 1;
    if (isUnfit) wrong.wrongUnfitForFile += 1;
    if (wrongReferences.length < shownReferences) wrongReferences.push(bookingReferenceId ?? '');
  }

  return {
    add(record) {
      switch (record.kind) {
        case 'booking':
          addBooking(record);
          break;
        case 'duplicate':
          sums.duplicates += 1;
          break;
        default: {
          const reason = reasons[record.kind];
          sums.rejected += 1;
          rejects.set(reason, (rejects.get(reason) ?? 0) + 1);
        }
      }
    },
    counts: () => ({
      records: sums.bookings + sums.duplicates + sums.rejected,
      ...sums,
      rejects: [...rejects].map(([reason, count]) => ({ reason, count })),
      missing,
      ...wrong,
      wrongReferences,
    }),
  };
}
