import fc from 'fast-check';
import { expect, it } from 'vitest';
import { halveBatch, planBatches } from '../../src/rules/batch-plan.js';

it('the plan of a day has one step per stored batch, and together they contain every booking', () => {
  fc.assert(
    fc.property(fc.nat({ max: 20_000 }), fc.integer({ min: 20, max: 5_000 }), (all, batchSize) => {
      const sizes = Array.from({ length: Math.ceil(all / batchSize) }, (_, batch) =>
        Math.min(batchSize, all - batch * batchSize),
      );
      expect(planBatches(all, batchSize)).toEqual(
        sizes.map((bookings, batch) => ({
          ...{ name: `batch ${batch}`, kind: 'batch', bookings },
          slice: { stream: 'posted', batch, first: 0, bookings },
        })),
      );
    }),
    { numRuns: 30 },
  );
});

it('the halves of a batch contain its bookings between them, the first one more if they are odd', () => {
  fc.assert(
    fc.property(fc.nat({ max: 5_000 }), fc.integer({ min: 2, max: 5_000 }), (first, bookings) => {
      const slice = { stream: 'posted', batch: 12, first, bookings } as const;
      const [left, right] = halveBatch({ name: 'batch 12', kind: 'batch', slice, bookings });
      const half = { kind: 'batch', bookings: Math.ceil(bookings / 2) };
      expect(left).toEqual({ ...half, name: 'batch 12.0', slice: { ...slice, bookings: half.bookings } });
      const rest = bookings - half.bookings;
      const other = { ...slice, first: first + half.bookings, bookings: rest };
      expect(right).toEqual({ name: 'batch 12.1', kind: 'batch', slice: other, bookings: rest });
    }),
  );
});
