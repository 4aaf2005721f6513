import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { halveBatch, planBatches } from '../../../src/review/body/plan.js';
import type { PlannedStep } from '../../../src/review/step.js';

describe('the plan of a day', () => {
  it('is a step a stored batch, and together they hold every booking', () => {
    fc.assert(
      fc.property(fc.nat({ max: 20_000 }), fc.integer({ min: 20, max: 5_000 }), (bookings, batchSize) => {
        const steps = planBatches(bookings, batchSize);
        expect(steps).toHaveLength(Math.ceil(bookings / batchSize));
        steps.forEach((step, batch) => {
          const size = Math.min(batchSize, bookings - batch * batchSize);
          expect(step).toEqual({
            name: `batch ${batch}`,
            kind: 'batch',
            slice: { form: 'body', batch, first: 0, bookings: size },
            bookings: size,
          });
        });
      }),
      { numRuns: 30 },
    );
  });

  it('of an empty day is empty', () => {
    expect(planBatches(0, 500)).toEqual([]);
  });
});

describe('the halves of a batch', () => {
  it('hold its bookings between them, each at least one', () => {
    fc.assert(
      fc.property(fc.nat({ max: 5_000 }), fc.integer({ min: 2, max: 5_000 }), (first, bookings) => {
        const [left, right] = halveBatch(batch(first, bookings));
        expect([left.name, right.name]).toEqual(['batch 12.0', 'batch 12.1']);
        expect(left.slice).toEqual({ form: 'body', batch: 12, first, bookings: left.bookings });
        expect(right.slice).toEqual({
          form: 'body',
          batch: 12,
          first: first + left.bookings,
          bookings: right.bookings,
        });
        expect(left.bookings + right.bookings).toBe(bookings);
        expect(left.bookings - right.bookings).toBeOneOf([0, 1]);
      }),
    );
  });

  it('of a whole day come down to single bookings, each once', () => {
    const places = split(batch(0, 37)).map(({ slice }) => slice?.first);
    expect(places).toEqual(Array.from({ length: 37 }, (_, place) => place));
  });
});

type Batch = Parameters<typeof halveBatch>[0];

function split(step: Batch): PlannedStep[] {
  if (step.bookings === 1) return [step];
  return halveBatch(step).flatMap((half) => (half.slice ? split({ ...half, slice: half.slice }) : []));
}

function batch(first: number, bookings: number): Batch {
  const slice = { form: 'body', batch: 12, first, bookings } as const;
  return { name: 'batch 12', kind: 'batch', slice, bookings };
}
