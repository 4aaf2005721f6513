import { createHash } from 'node:crypto';
import { createMeasure } from '../../base/content.js';
import { batchStreams } from '../../booking/sending.js';
import { readStoredBatches, splitStoredLines } from '../../ledger/batches.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { Run } from '../../rules/run.js';
import { buildRequestBody } from '../body/body-delivery.js';
import { renderReviewFile } from '../file/file-attempt.js';

/** Receives what would be sent; absent if only checksums are needed. */
export type TakeContent = (name: string, content: Uint8Array | AsyncIterable<Uint8Array>) => Promise<void>;

/** The first stored lines of a collected run, those of the file first, each with its row in its batch. */
export async function readFirstLines(ledger: ReadOnlyLedger, run: Run, count: number) {
  const first = [];
  for (const stream of batchStreams) {
    if (first.length === count) break;
    for await (const { batch, lines } of readStoredBatches(ledger, run, stream)) {
      const taken = splitStoredLines(lines).slice(0, count - first.length);
      first.push(...taken.map((line, row) => ({ line, stream, batch, row })));
      if (first.length === count) break;
    }
  }
  return first;
}

/** Builds every request body as it would be sent. The checksum is that of all bytes. */
export async function previewBodies(ledger: ReadOnlyLedger, run: Run, take?: TakeContent) {
  const all = createHash('sha256');
  let batches = 0;
  let bytes = 0;
  for await (const { batch, lines } of readStoredBatches(ledger, run, 'posted')) {
    batches += 1;
    const bookings = lines.reduce((count, byte) => (byte === 0x0a ? count + 1 : count), 0);
    const body = buildRequestBody(lines, { first: 0, bookings }, run);
    all.update(body);
    bytes += body.length;
    await take?.(`batch-${batch}.json`, body);
  }
  return { batches, bytes, sha256: all.digest('hex') };
}

/** Builds the review file as it would be sent; undefined if no booking can be in it. */
export async function previewReviewFile(ledger: ReadOnlyLedger, run: Run, name: string, take?: TakeContent) {
  const { bookings: rows } = await ledger.bookings.measureBatches(run.id, 'file');
  if (rows === 0) return undefined;
  const measured = createMeasure();
  const content = measured.pass(renderReviewFile(ledger, run));
  if (take) await take(name, content);
  else for await (const _ of content);
  return { name, rows, ...measured.result() };
}
