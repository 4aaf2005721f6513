import { createHash } from 'node:crypto';
import type { GuestNames } from '../../booking/guest-names.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { Run } from '../../ledger/run.js';
import type { Evidence, Outcome, PlannedStep, Slice } from '../../ledger/step.js';
import type { ReviewService } from '../../mapping-service/client.js';
import type { Verdict } from '../../mapping-service/verdict.js';
import type { Delivery } from '../delivery.js';
import { buildRequestBody, createBodyForms } from './booking-item.js';

export interface BodyDeliveryParts {
  readonly service: Pick<ReviewService, 'reviewBookedHotels'>;
  readonly masterIdName: string;
  readonly batchSize: number;
  /** Sent by default. */
  readonly names?: GuestNames;
  /** Needed for runs with a canary. */
  readonly findCanary?: ReadOnlyLedger['canaries']['find'];
}

/** Delivers a day by POSTing its bookings in batches. (Spec 4.2.) */
export function createBodyDelivery(parts: BodyDeliveryParts): Delivery {
  const { service, masterIdName, batchSize, names, findCanary } = parts;

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

/** One step per stored batch: `batch 0`, `batch 1`, … */
export function planBatches(bookings: number, batchSize: number): PlannedStep[] {
  const count = Math.ceil(bookings / batchSize);
  return Array.from({ length: count }, (_, batch) =>
    batchStep(`batch ${batch}`, {
      form: 'body',
      batch,
      first: 0,
      bookings: Math.min(batchSize, bookings - batch * batchSize),
    }),
  );
}

/**
 * The two steps that replace a batch refused for its content: `batch 12.0` and `batch 12.1`. Halving continues until
 * the offending booking is alone.
 */
export function halveBatch(
  step: PlannedStep & { readonly slice: Slice },
): readonly [PlannedStep, PlannedStep] {
  const { first, bookings } = step.slice;
  const half = Math.ceil(bookings / 2);
  return [
    batchStep(`${step.name}.0`, { ...step.slice, bookings: half }),
    batchStep(`${step.name}.1`, { ...step.slice, first: first + half, bookings: bookings - half }),
  ];
}

function batchStep(name: string, slice: Slice): PlannedStep {
  return { name, kind: 'batch', slice, bookings: slice.bookings };
}
