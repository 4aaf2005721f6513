import { freeMemory } from '../async/free-memory.js';
import type { BatchReader } from './ledger.js';
import type { Run } from './run.js';
import type { BookingForm } from './step.js';

/** A batch as stored in the ledger. */
export interface StoredBatch {
  readonly batch: number;
  /** Each line with its line end. */
  readonly lines: Buffer;
}

/** A run's bookings of one form, in their order, one batch at a time. */
export async function* readStoredBatches(
  ledger: BatchReader,
  { id }: Pick<Run, 'id'>,
  form: BookingForm,
): AsyncGenerator<StoredBatch, void, undefined> {
  const { batches } = await ledger.measureBatches(id, form);
  for (let batch = 0; batch < batches; batch += 1)
    yield { batch, lines: await ledger.readBatch(id, form, batch) };
}

/** The lines of a batch, without their line ends. */
export function splitStoredLines(lines: Buffer): string[] {
  return lines.toString().split('\n').slice(0, -1);
}

const lineFeed = 0x0a;

/**
 * The lines at some places of a batch, without their line ends. The memory of the batch is given back: nobody else may use it.
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
  freeMemory(lines);
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
