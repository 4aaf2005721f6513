import { createHash } from 'node:crypto';
import { createMeasure, measure } from '../../base/content.js';
import { rendererVersion, renderItems } from '../../booking/item-line.js';
import { type BatchStream, batchStreams } from '../../booking/sending.js';
import { putReferences } from '../../booking/stored-line.js';
import { readStoredBatches, splitStoredLines } from '../../ledger/batches.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { Trace } from '../../ledger/tracing.js';
import type { Run } from '../../rules/run.js';
import { KeyError } from '../../storage/day-keys.js';
import { buildRequestBody } from '../body/body-delivery.js';
import { renderReviewFile } from '../file/file-attempt.js';

/* What was sent, rendered again from the stored lines. */

/** The bytes of a stored line in the request body, or in the file without the line end. */
export function renderAsSent({ guestNames, masterIdName }: Run, stream: BatchStream, line: string): Buffer {
  const stored = Buffer.from(`${line}\n`);
  if (stream === 'posted') return renderItems(stored, 1, masterIdName);
  return (guestNames === 'omit' ? putReferences(stored) : stored).subarray(0, -1);
}

/** How what was sent compares with the same, rendered again. Once names were removed nobody can tell. */
export type SentComparison = 'same' | 'differs' | 'names-removed' | 'other-renderer';

/**
 * Creates the function that renders the body or the file again in which a booking was sent, and compares its checksum with the one that the
 * last attempt has; undefined for what was not sent. Each body and file is rendered once.
 */
export function createSentComparer(ledger: ReadOnlyLedger) {
  const rendered = new Map<string, Promise<string | undefined>>();
  return async (trace: Trace): Promise<SentComparison | undefined> => {
    if (trace.kind === 'reject') return undefined;
    const { run, step, attempts } = trace;
    const sent = attempts.findLast(({ step: name, sha256 }) => name === step?.name && sha256 !== undefined);
    if (!sent) return undefined;
    const key = `${run.id} ${sent.step}`;
    const again = rendered.get(key) ?? hashAgain(ledger, trace);
    rendered.set(key, again);
    const sha256 = await again;
    if (sha256 === sent.sha256) return 'same';
    if (sha256 === undefined || run.linesBlanked || run.guestErasedAt !== undefined) return 'names-removed';
    return run.renderer === rendererVersion ? 'differs' : 'other-renderer';
  };
}

/** Undefined if the key of the day is gone. */
async function hashAgain(
  ledger: ReadOnlyLedger,
  { run, stream, batch, step }: Extract<Trace, { readonly kind: 'booking' }>,
): Promise<string | undefined> {
  try {
    if (stream === 'file') return (await measure(renderReviewFile(ledger, run))).sha256;
    const { first = 0, bookings = 0 } = step ?? {};
    const lines = await ledger.bookings.readBatch(run.id, stream, batch);
    const body = buildRequestBody(lines, { first, bookings }, run.masterIdName);
    return createHash('sha256').update(body).digest('hex');
  } catch (error) {
    if (error instanceof KeyError) return undefined;
    throw error;
  }
}

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
    const body = buildRequestBody(lines, { first: 0, bookings }, run.masterIdName);
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
