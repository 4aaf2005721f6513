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
