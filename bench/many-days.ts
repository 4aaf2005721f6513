import { hashReference } from '../src/booking/reference-hash.js';
import { createSqliteLedger } from '../src/ledger/sqlite/sqlite-ledger.js';

export interface ManyDays {
  readonly days: number;
  readonly bookings: number;
}

const batchSize = 500;
const batchesPerTransaction = 10;
const firstDay = Date.UTC(2026, 9, 22);
const dayMs = 86_400_000;

/** The reference of the booking at that position of a day. */
export function referenceOf(day: number, place: number): string {
  return `BR-${day}-${place}`;
}

/** Creates a ledger of days reviewed by file, through the ledger's port, with lines as a run would keep them. */
export async function fillLedger(path: string, { days, bookings }: ManyDays): Promise<void> {
  const ledger = createSqliteLedger({ path, carriesReference: () => false, clock: Date.now });
  for (let day = 0; day < days; day += 1) {
    const at = firstDay + day * dayMs;
    const run = await ledger.createRun({
      id: `run-${day}`,
      day: new Date(at).toISOString().slice(0, 10),
      delivery: 'file',
      trigger: 'manual',
      startedAt: at,
    });
    const right = { runId: run.id, token: run.token };
    const collect = await ledger.beginCollect(right, { source: 'bookings.csv', at, batchSize });
    for (let first = 0; first < bookings; first += batchSize * batchesPerTransaction) {
      const batches = Array.from({ length: batchesPerTransaction }, (_, index) =>
        batchOf(day, first / batchSize + index, bookings),
      );
      await collect.store({
        batches: batches.filter(({ referenceHashes }) => referenceHashes.length > 0),
        rejects: [],
        duplicates: 0,
        filtered: 0,
        warnings: [],
      });
    }
    await collect.finish({ steps: [], at });
    await ledger.settle(right, { state: 'succeeded', at });
  }
  await ledger.close();
}

function batchOf(day: number, number: number, bookings: number) {
  const first = number * batchSize;
  const places = Array.from(
    { length: Math.max(0, Math.min(batchSize, bookings - first)) },
    (_, index) => first + index,
  );
  const references = places.map((place) => referenceOf(day, place));
  const lines = references.map(
    (reference, index) =>
      `${(first + index) % 900_000},${reference},Maria Garcia Lopez,Provider ${index % 40},0${first + index},21112026,24112026\n`,
  );
  return {
    form: 'file' as const,
    number,
    lines: Buffer.from(lines.join('')),
    referenceHashes: references.map(hashReference),
  };
}
