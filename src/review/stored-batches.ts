import { giveWay } from '../async/give-way.js';
import type { BatchReader } from './ledger.js';
import type { Run } from './run.js';
import type { BookingForm } from './step.js';

/** A batch as stored in the ledger. */
export interface StoredBatch {
  readonly batch: number;
  /** Each line with its line end. */
  readonly lines: Buffer;
}

/**
 * Some hundred kilobytes: with batches of a few bookings, a query for each would take far longer than the work on it.
 */
const bookingsAtOnce = 2_000;

/** A run's bookings of one form, in their order, one batch at a time. Lets others work between two queries. */
export async function* readStoredBatches(
  ledger: BatchReader,
  { id }: Pick<Run, 'id'>,
  form: BookingForm,
): AsyncGenerator<StoredBatch, void, undefined> {
  const { batches, bookings } = await ledger.measureBatches(id, form);
  const atOnce = Math.max(1, Math.floor(bookingsAtOnce / Math.ceil(bookings / batches)));
  // The first one alone: some callers want only the first lines.
  for (let from = 0, to = 1; from < batches; from = to, to += atOnce) {
    if (from > 0) await giveWay();
    const read = await ledger.readBatches(id, form, { from, to: Math.min(to, batches) });
    for (const [index, lines] of read.entries()) yield { batch: from + index, lines };
  }
}

/** The lines of a batch, without their line ends. */
export function splitStoredLines(lines: Buffer): string[] {
  return lines.toString().split('\n').slice(0, -1);
}

const lineFeed = 0x0a;

/**
 * The lines at some places of a batch, without their line ends.
 *
 * @param places ascending
 */
export function takeStoredLines(lines: Buffer, places: readonly number[]): string[] {
  const taken: string[] = [];
  let start = 0;
  let passed = 0;
  for (const place of places) {
    for (; passed < place; passed += 1) start = lines.indexOf(lineFeed, start) + 1;
    taken.push(lines.toString('utf8', start, lines.indexOf(lineFeed, start)));
  }
  return taken;
}

/** The places in each batch, for positions in a run. */
export function groupByBatch(positions: readonly number[], batchSize: number): ReadonlyMap<number, number[]> {
  const batches = new Map<number, number[]>();
  for (const position of positions) {
    const batch = Math.floor(position / batchSize);
    const places = batches.get(batch);
    if (places) places.push(position % batchSize);
    else batches.set(batch, [position % batchSize]);
  }
  return batches;
}
