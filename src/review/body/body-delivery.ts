import { createHash } from 'node:crypto';
import { renderItems } from '../../booking/item-line.js';
import type { GuestNames } from '../../booking/sending.js';
import { sliceLines } from '../../ledger/batches.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import { planBatches } from '../../rules/batch-plan.js';
import type { Run } from '../../rules/run.js';
import type { Evidence, Outcome } from '../../rules/step.js';
import type { CallResult } from '../../service/call-result.js';
import type { ReviewService } from '../../service/client.js';
import type { Delivery } from '../delivery.js';

/** Delivers a day by POSTing its bookings in batches. (Spec 4.2.) */
export function createBodyDelivery({
  service,
  masterIdName,
  batchSize,
  names = 'send',
  findCanary,
}: {
  readonly service: Pick<ReviewService, 'reviewBookedHotels'>;
  readonly masterIdName: string;
  readonly batchSize: number;
  readonly names?: GuestNames;
  /** Needed for runs with a canary. */
  readonly findCanary?: ReadOnlyLedger['canaries']['find'];
}): Delivery {
  async function post(body: Buffer, signal: AbortSignal): Promise<Outcome> {
    const calling = service.reviewBookedHotels(body, { signal });
    // Hashed while the service is already reading the bytes.
    const sha256 = createHash('sha256').update(body).digest('hex');
    return toServiceOutcome(await calling, sha256);
  }

  async function renderCanary(run: Run): Promise<Buffer> {
    const canary = await findCanary?.(run.id);
    if (!canary) throw new RangeError(`no canary of run ${run.id} in the ledger`);
    return buildRequestBody(Buffer.from(`${canary.line}\n`), { first: 0, bookings: 1 }, run.masterIdName);
  }

  return {
    kind: 'body',
    names,
    masterIdName,
    plan: ({ posted }) => planBatches(posted, batchSize),
    async perform({ step, run, lines }, signal) {
      if (step.kind === 'canary') return post(await renderCanary(run), signal);
      if (!step.slice) throw new TypeError(`expected a batch, got: ${step.name}`);
      if (!lines) throw new RangeError(`no ${step.slice.stream} batch ${step.slice.batch} in the ledger`);
      return post(buildRequestBody(lines, step.slice, run.masterIdName), signal);
    },
  };
}

/**
 * What a call's result means for the step that made the call.
 *
 * @param sha256 of the bytes sent for review
 */
export function toServiceOutcome(result: CallResult, sha256: string): Outcome {
  const { code, httpStatus, statusCode, answer } = result;
  const evidence: Evidence = { code, httpStatus, statusCode, answer, sha256 };
  switch (result.kind) {
    case 'accepted':
      return { kind: 'done', evidence };
    case 'retryable': {
      const { outcomeUnknown, retryAfterMs, refusedWhenSpent } = result;
      return { kind: 'retryable', evidence, outcomeUnknown, retryAfterMs, refusedWhenSpent };
    }
    case 'refused':
      return { kind: 'refused', evidence };
    case 'fatal':
      return { kind: 'fatal', evidence, advice: 'check service.baseUrl, apiKey and accountId' };
  }
}

const head = Buffer.from('{"Hotels":[');
const tail = Buffer.from(']}');

/** Builds the request body (spec 4.2) of a slice from the stored lines of its batch, as that run sends it. */
export function buildRequestBody(
  lines: Buffer,
  slice: Parameters<typeof sliceLines>[1],
  masterIdName: string | undefined,
): Buffer {
  return Buffer.concat([head, renderItems(sliceLines(lines, slice), slice.bookings, masterIdName), tail]);
}
