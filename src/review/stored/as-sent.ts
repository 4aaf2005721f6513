import { createHash } from 'node:crypto';
import { measure } from '../../base/content.js';
import { rendererVersion, renderItems } from '../../booking/item-line.js';
import type { BatchStream } from '../../booking/sending.js';
import { putReferences } from '../../booking/stored-line.js';
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
    const body = buildRequestBody(lines, { first, bookings }, run);
    return createHash('sha256').update(body).digest('hex');
  } catch (error) {
    if (error instanceof KeyError) return undefined;
    throw error;
  }
}
