import { createHash } from 'node:crypto';
import type { Ledger } from '../../ledger/ledger.js';
import type { ReviewService, Verdict } from '../../mapping-service/mapping-service.js';
import type { Delivery, StepOutcome } from '../delivery.js';
import type { Evidence } from '../step.js';
import { renderBookingItem } from './booking-item.js';
import { planBatches } from './plan.js';
import { buildRequestBody } from './request-body.js';

export interface BodyDeliveryParts {
  readonly ledger: Pick<Ledger, 'readBatch'>;
  readonly service: Pick<ReviewService, 'reviewBookedHotels'>;
  readonly masterIdName: string;
  readonly batchSize: number;
}

/** Delivers a day by POSTing its bookings in batches. (Spec 4.2.) */
export function createBodyDelivery({
  ledger,
  service,
  masterIdName,
  batchSize,
}: BodyDeliveryParts): Delivery {
  return {
    kind: 'body',
    formOf: () => 'body',
    render: (booking) => renderBookingItem(booking, masterIdName),
    plan: ({ body }) => planBatches(body, batchSize),
    async perform(step, { signal }) {
      if (!step.slice) throw new TypeError(`expected a batch, got: ${step.name}`);
      const lines = await ledger.readBatch(step.runId, step.slice.form, step.slice.batch);
      const body = buildRequestBody(lines, step.slice);
      const verdict = await service.reviewBookedHotels(body, { signal });
      return toOutcome(verdict, createHash('sha256').update(body).digest('hex'));
    },
  };
}

function toOutcome(verdict: Verdict, sha256: string): StepOutcome {
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
      return { kind: 'fatal', evidence };
  }
}
