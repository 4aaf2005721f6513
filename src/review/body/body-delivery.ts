import { createHash } from 'node:crypto';
import type { GuestNames } from '../../booking/guest-names.js';
import { createBodyForms } from '../../booking/item-line.js';
import { sliceLines } from '../../ledger/batches.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import { planBatches } from '../../rules/batch-plan.js';
import type { Run } from '../../rules/run.js';
import type { Evidence, Outcome, Slice } from '../../rules/step.js';
import type { ReviewService } from '../../service/client.js';
import type { Verdict } from '../../service/verdict.js';
import type { Delivery } from '../delivery.js';

/** Delivers a day by POSTing its bookings in batches. (Spec 4.2.) */
export function createBodyDelivery({
  service,
  masterIdName,
  batchSize,
  names,
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

  async function renderCanary({ id }: Run): Promise<Buffer> {
    const canary = await findCanary?.(id);
    if (!canary) throw new RangeError(`no canary of run ${id} in the ledger`);
    return buildRequestBody(Buffer.from(`${canary.line}\n`), { first: 0, bookings: 1 });
  }

  return {
    ...createBodyForms(masterIdName, names),
    plan: ({ body }) => planBatches(body, batchSize),
    async perform({ step, run, lines }, signal) {
      if (step.kind === 'canary') return post(await renderCanary(run), signal);
      if (!step.slice) throw new TypeError(`expected a batch, got: ${step.name}`);
      if (!lines) throw new RangeError(`no ${step.slice.form} batch ${step.slice.batch} in the ledger`);
      return post(buildRequestBody(lines, step.slice), signal);
    },
  };
}

/**
 * What a call's verdict means for the step that made the call.
 *
 * @param sha256 of the bytes sent for review
 */
export function toServiceOutcome(verdict: Verdict, sha256: string): Outcome {
  const { code, httpStatus, statusCode, answer } = verdict;
  const evidence: Evidence = { code, httpStatus, statusCode, answer, sha256 };
  switch (verdict.kind) {
    case 'accepted':
      return { kind: 'done', evidence };
    case 'retryable': {
      const { outcomeUnknown, retryAfterMs, refusedWhenSpent } = verdict;
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
const lineFeed = 0x0a;
const comma = 0x2c;

/**
 * Builds the request body (spec 4.2) of a slice by copying the stored lines of its batch. Line feeds end the items
 * and occur nowhere else, so replacing them by commas makes the lines an array.
 */
export function buildRequestBody(lines: Buffer, slice: Pick<Slice, 'first' | 'bookings'>): Buffer {
  const items = sliceLines(lines, slice);
  const body = Buffer.concat([head, items.subarray(0, -1), tail]);
  for (let at = body.indexOf(lineFeed); at !== -1; at = body.indexOf(lineFeed, at + 1)) body[at] = comma;
  return body;
}
