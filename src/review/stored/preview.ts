import { createHash } from 'node:crypto';
import { readStoredBatches, splitStoredLines } from '../../ledger/batches.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { Run } from '../../ledger/run.js';
import type { BookingForm } from '../../ledger/step.js';
import { buildRequestBody } from '../body/booking-item.js';
import { renderReviewFile } from '../file/spooled-files.js';

/** Receives what would be sent; absent if only checksums are needed. */
export type TakeContent = (name: string, content: Uint8Array | AsyncIterable<Uint8Array>) => Promise<void>;

export interface SentSums {
  readonly bytes: number;
  /** Of all bytes, in hexadecimal. */
  readonly sha256: string;
}

interface FirstLine {
  readonly line: string;
  readonly form: BookingForm;
  readonly batch: number;
  /** Among the lines of its batch. */
  readonly place: number;
}

/** The first stored lines of a collected run, those of the file first. */
export async function readFirstLines(
  ledger: ReadOnlyLedger,
  run: Run,
  count: number,
): Promise<readonly FirstLine[]> {
  const first: FirstLine[] = [];
  for (const form of ['file', 'body'] as const) {
    if (first.length === count) break;
    for await (const stored of readStoredBatches(ledger, run, form)) {
      const lines = splitStoredLines(stored.lines);
      const { batch } = stored;
      first.push(
        ...lines.slice(0, count - first.length).map((line, place) => ({ line, form, batch, place })),
      );
      if (first.length === count) break;
    }
  }
  return first;
}

/** Builds every request body as it would be sent. */
export async function previewBodies(
  ledger: ReadOnlyLedger,
  run: Run,
  take?: TakeContent,
): Promise<SentSums & { readonly batches: number }> {
  const all = createHash('sha256');
  let batches = 0;
  let bytes = 0;
  for await (const { batch, lines } of readStoredBatches(ledger, run, 'body')) {
    batches += 1;
    const bookings = lines.reduce((count, byte) => (byte === 0x0a ? count + 1 : count), 0);
    const body = buildRequestBody(lines, { first: 0, bookings });
    all.update(body);
    bytes += body.length;
    await take?.(`batch-${batch}.json`, body);
  }
  return { batches, bytes, sha256: all.digest('hex') };
}

/** Builds the review file as it would be sent; undefined if no booking can be in it. */
export async function previewReviewFile(
  ledger: ReadOnlyLedger,
  run: Run,
  { masterIdColumn, name }: { readonly masterIdColumn: string; readonly name: string },
  take?: TakeContent,
): Promise<(SentSums & { readonly name: string; readonly rows: number }) | undefined> {
  const { bookings: rows } = await ledger.bookings.measureBatches(run.id, 'file');
  if (rows === 0) return undefined;
  const hash = createHash('sha256');
  let bytes = 0;
  async function* render(): AsyncGenerator<Uint8Array> {
    for await (const block of renderReviewFile({ ledger, masterIdColumn }, run)) {
      hash.update(block);
      bytes += block.length;
      yield block;
    }
  }
  if (take) await take(name, render());
  else for await (const _ of render());
  return { name, rows, bytes, sha256: hash.digest('hex') };
}
