import { setImmediate } from 'node:timers/promises';
import type { TextProperty } from '../common/fields.js';
import { type MadeDay, makeBookings } from './made-bookings.js';
import { csvFormat, type Flaw, type MadeRecord, ndjsonFormat, type RecordFormat } from './record-formats.js';

export const dayFormats = ['csv', 'ndjson'] as const;

export type DayFormat = (typeof dayFormats)[number];

const formats: Readonly<Record<DayFormat, RecordFormat>> = { csv: csvFormat, ndjson: ndjsonFormat };
const chunkLength = 64 * 1024;

/** A made-up day in one format, rendered as it is read. */
export interface DayText {
  /** Can be read once. Throws the signal's reason when it aborts. */
  readonly chunks: AsyncIterable<string>;
  /** What the chunks read so far contained. */
  counts(): DayCounts;
}

export function renderDay(
  day: MadeDay,
  format: DayFormat,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): DayText {
  const { header, emptyDay, write, reasons } = formats[format];
  const counter = createDayCounter(reasons);
  const records = makeBookings(day);

  async function* render(): AsyncGenerator<string, void> {
    let chunk = day.count === 0 ? emptyDay : header;
    for (const record of records) {
      counter.add(record);
      chunk += write(record);
      if (chunk.length < chunkLength) continue;
      // A sink that never blocks would otherwise starve the signal.
      await setImmediate();
      signal?.throwIfAborted();
      yield chunk;
      chunk = '';
    }
    yield chunk;
  }
  return { chunks: render(), counts: counter.counts };
}

/** What a made-up day contains. records = bookings + duplicates + rejected */
export interface DayCounts {
  readonly records: number;
  /** Distinct records that can be reviewed. */
  readonly bookings: number;
  readonly duplicates: number;
  readonly rejected: number;
  /** By the reason codes of `hotel-review`. */
  readonly rejects: readonly { readonly reason: string; readonly count: number }[];
  /** Bookings that lack exactly one field. */
  readonly incomplete: number;
  readonly missing: Readonly<Partial<Record<TextProperty, number>>>;
  /** Bookings that can't go into a review file: incomplete ones, and guests whose name reads as null. (Spec 4.3.) */
  readonly unfitForFile: number;
  readonly wrongMappings: number;
  /** Those of them that can't go into a review file. */
  readonly wrongUnfitForFile: number;
  /** The booking references of the first few wrong mappings. */
  readonly wrongReferences: readonly string[];
}

const shownReferences = 5;
const readsAsNull = /^(?:null|none)$/i;

function createDayCounter(reasons: Readonly<Record<Flaw, string>>) {
  const sums = { bookings: 0, duplicates: 0, rejected: 0, incomplete: 0, unfitForFile: 0 };
  const rejects = new Map<string, number>();
  const missing: Partial<Record<TextProperty, number>> = {};
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
    if (field === 'bookingReferenceId' || typeof bookingReferenceId !== 'string') return;
    if (wrongReferences.length < shownReferences) wrongReferences.push(bookingReferenceId);
  }

  return {
    add(record: MadeRecord): void {
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
    counts: (): DayCounts => ({
      records: sums.bookings + sums.duplicates + sums.rejected,
      ...sums,
      rejects: [...rejects].map(([reason, count]) => ({ reason, count })),
      missing,
      ...wrong,
      wrongReferences,
    }),
  };
}
