import { randomUUID } from 'node:crypto';
import { quantileSorted } from 'simple-statistics';
import { hashReference } from '../../src/booking/reference-hash.js';
import type { Right } from '../../src/review/claims.js';
import type { Ledger } from '../../src/review/ledger.js';

/** The duration of the ledger's two writes per step, and the steps per second. */
export interface LedgerPace {
  readonly concurrency: number;
  readonly runs: number;
  readonly stepsPerSecond: number;
  readonly claimP50Ms: number;
  readonly claimP99Ms: number;
  readonly recordP50Ms: number;
  readonly recordP99Ms: number;
}

/** A collected run with this many steps of one small booking each; their content does not matter here. */
export async function planRun(
  ledger: Ledger,
  day: string,
  steps: number,
): Promise<{ runId: string; token: number }> {
  const startedAt = Date.now();
  const { id: runId, token } = await ledger.createRun({
    id: `scale-${randomUUID()}`,
    day,
    delivery: 'body',
    trigger: 'manual',
    startedAt,
  });
  const collect = await ledger.beginCollect(
    { runId, token },
    { source: 'scale', at: startedAt, batchSize: 1 },
  );
  const chunk = 500;
  for (let from = 0; from < steps; from += chunk) {
    await collect.store({
      batches: Array.from({ length: Math.min(chunk, steps - from) }, (_, index) => ({
        form: 'body' as const,
        number: from + index,
        lines: Buffer.from('{}'),
        referenceHashes: [hashReference(`S-${from + index}`)],
      })),
      duplicates: 0,
      filtered: 0,
      rejects: [],
      warnings: [],
    });
  }
  await collect.finish({
    steps: Array.from({ length: steps }, (_, index) => ({
      name: nameOf(index),
      kind: 'batch' as const,
      bookings: 1,
      slice: { form: 'body' as const, batch: index, first: 0, bookings: 1 },
    })),
    at: Date.now(),
  });
  return { runId, token };
}

const nameOf = (index: number) => `batch ${index}`;

/** Claims and records this many steps of new runs, with nothing in between. */
export async function paceLedger(
  ledger: Ledger,
  {
    steps,
    concurrency,
    runs,
  }: { readonly steps: number; readonly concurrency: number; readonly runs: number },
  days: () => string,
): Promise<LedgerPace> {
  const rights: Right[] = [];
  for (let run = 0; run < runs; run += 1) rights.push(await planRun(ledger, days(), Math.ceil(steps / runs)));
  const claims: number[] = [];
  const records: number[] = [];
  let next = 0;

  async function performSteps(): Promise<void> {
    while (next < steps) {
      const index = next;
      next += 1;
      const right = rights[index % runs];
      if (!right) return;
      const claimedAt = performance.now();
      const claim = await ledger.claim(right, nameOf(Math.floor(index / runs)), 1, Date.now());
      if (!claim) throw new Error('expected a step that nobody has taken, got: none');
      const recordedAt = performance.now();
      claims.push(recordedAt - claimedAt);
      await ledger.record(
        claim,
        { kind: 'done', evidence: { code: 'accepted', httpStatus: 200 } },
        Date.now(),
      );
      records.push(performance.now() - recordedAt);
    }
  }

  const started = performance.now();
  await Promise.all(Array.from({ length: concurrency }, performSteps));
  const seconds = (performance.now() - started) / 1000;
  claims.sort((a, b) => a - b);
  records.sort((a, b) => a - b);
  return {
    concurrency,
    runs,
    stepsPerSecond: steps / seconds,
    claimP50Ms: quantileSorted(claims, 0.5),
    claimP99Ms: quantileSorted(claims, 0.99),
    recordP50Ms: quantileSorted(records, 0.5),
    recordP99Ms: quantileSorted(records, 0.99),
  };
}
