import type { Ledger } from '../../../src/ledger/ledger.js';
import { planBatches } from '../../../src/rules/batch-plan.js';
import { startChain } from '../../../src/rules/file-chain.js';
import type { Run } from '../../../src/rules/run.js';
import type { PlannedStep } from '../../../src/rules/step.js';
import { at, batchOf, batchSize, chunkOf, done, newRun, perform, references, startCollect } from './days.js';

/** The plan of a file run, like createFileDelivery's. */
export function planFileRun({ file, body = 0 }: { file: number; body?: number }): PlannedStep[] {
  return [...startChain(file), ...planBatches(body, batchSize)];
}

/** A collected and planned file run: bookings F-0, F-1, … for the file, and B-0, B-1, … to be posted. */
export async function collectedFileRun(
  ledger: Ledger,
  id: string,
  { file = 6, body = 0, day }: { file?: number; body?: number; day?: string } = {},
): Promise<Run> {
  const run = await ledger.runs.create(newRun(id, { delivery: 'file', ...(day !== undefined && { day }) }));
  const collect = await startCollect(ledger, run);
  const batchesOf = (stream: 'file' | 'posted', count: number, prefix: string) =>
    Array.from({ length: Math.ceil(count / batchSize) }, (_, batch) =>
      batchOf(batch, references(count, prefix).slice(batch * batchSize, (batch + 1) * batchSize), stream),
    );
  await collect.store(
    chunkOf({ batches: [...batchesOf('file', file, 'F'), ...batchesOf('posted', body, 'B')] }),
  );
  return collect.finish({ steps: planFileRun({ file, body }), at });
}

export const fileSteps = ['write', 'upload', 'trigger', 'await-result', 'archive'] as const;

/** Performs the file steps in order, up to and including `last`. */
export async function performUpTo(ledger: Ledger, run: Run, last: (typeof fileSteps)[number]): Promise<Run> {
  for (const step of fileSteps.slice(0, fileSteps.indexOf(last) + 1)) await perform(ledger, run, step, done);
  return ledger.runs.get(run.id);
}

export const overdue = {
  kind: 'overdue',
  evidence: { code: 'result-absent' },
  until: at + 60_000,
} as const;
