import { deviation, fitLine, predict, type StraightLine } from './model.js';
import { type Aged, growOld } from './retention.js';
import { type Reviewed, review } from './review.js';
import type { Engine, Stage } from './stage.js';

/** The figures compared with the straight line. */
export const quantities = {
  '`run`: CPU, s': ({ cpu }: Reviewed) => cpu.run,
  '`work`: CPU, s': ({ cpu }: Reviewed) => cpu.work,
  'PostgreSQL: CPU, s': ({ cpu }: Reviewed) => cpu.postgres,
  'Redis: CPU, s': ({ cpu }: Reviewed) => cpu.redis,
  'collecting, s': ({ collectSeconds }: Reviewed) => collectSeconds,
  'sending, s': ({ deliverSeconds }: Reviewed) => deliverSeconds,
  'ledger, MB': ({ ledgerBytes }: Reviewed) => ledgerBytes / 1e6,
  'PostgreSQL: WAL, MB': ({ walBytes }: Reviewed) => walBytes / 1e6,
  '`run`: peak memory, MB': ({ peakMb }: Reviewed) => peakMb.run,
} as const;

export type Quantity = keyof typeof quantities;

export interface Checked {
  readonly quantity: Quantity;
  readonly line: StraightLine;
  readonly predicted: number;
  readonly measured: number;
  readonly deviation: number;
}

export interface StraightLines {
  readonly engine: Engine;
  readonly reviewed: readonly Reviewed[];
  readonly checked: readonly Checked[];
  readonly largest: Reviewed;
  readonly aged: Aged;
}

/**
 * Reviews days of several sizes with a service that answers at once, fits lines to them, and compares these with a larger
 * day.
 */
export async function layLines(
  stage: Stage,
  {
    engine,
    sizes,
    larger,
    workers,
  }: {
    readonly engine: Engine;
    readonly sizes: readonly number[];
    readonly larger: number;
    readonly workers: number;
  },
): Promise<StraightLines> {
  stage.service.answerBy();
  const reviewed: Reviewed[] = [];
  for (const bookings of sizes) {
    const folder = await stage.openFolder({ engine, bookings });
    reviewed.push(await review(stage, folder, { workers }));
    await folder.remove();
  }
  const folder = await stage.openFolder({ engine, bookings: larger });
  const largest = await review(stage, folder, { workers });
  const aged = await growOld(stage, folder, largest.bookings);
  await folder.remove();
  const checked = (Object.keys(quantities) as Quantity[]).flatMap((quantity) => {
    const measure = quantities[quantity];
    const measured = measure(largest);
    if (measured === 0) return [];
    const line = fitLine(reviewed.map((each) => ({ bookings: each.bookings, value: measure(each) })));
    const predicted = predict(line, largest.bookings);
    return [{ quantity, line, predicted, measured, deviation: deviation(predicted, measured) }];
  });
  return { engine, reviewed, checked, largest, aged };
}
