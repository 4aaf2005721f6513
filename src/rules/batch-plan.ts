import type { PlannedStep, Slice } from './step.js';

/** One step per stored batch: `batch 0`, `batch 1`, … */
export function planBatches(bookings: number, batchSize: number): PlannedStep[] {
  const count = Math.ceil(bookings / batchSize);
  return Array.from({ length: count }, (_, batch) =>
    batchStep(`batch ${batch}`, {
      stream: 'posted',
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
