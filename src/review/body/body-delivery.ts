import { createHash } from 'node:crypto';
import type { ReviewService } from '../../mapping-service/client.js';
import type { Delivery } from '../delivery.js';
import { toServiceOutcome } from '../service-outcome.js';
import { createBodyForms } from './body-forms.js';
import { planBatches } from './plan.js';
import { buildRequestBody } from './request-body.js';

export interface BodyDeliveryParts {
  readonly service: Pick<ReviewService, 'reviewBookedHotels'>;
  readonly masterIdName: string;
  readonly batchSize: number;
}

/** Delivers a day by POSTing its bookings in batches. (Spec 4.2.) */
export function createBodyDelivery({ service, masterIdName, batchSize }: BodyDeliveryParts): Delivery {
  return {
    ...createBodyForms(masterIdName),
    plan: ({ body }) => planBatches(body, batchSize),
    async perform({ step }, { lines, signal }) {
      if (!step.slice) throw new TypeError(`expected a batch, got: ${step.name}`);
      if (!lines) throw new RangeError(`no ${step.slice.form} batch ${step.slice.batch} in the ledger`);
      const body = buildRequestBody(lines, step.slice);
      const calling = service.reviewBookedHotels(body, { signal });
      // While the service has the bytes: the call has begun.
      const sha256 = createHash('sha256').update(body).digest('hex');
      return toServiceOutcome(await calling, sha256);
    },
  };
}
