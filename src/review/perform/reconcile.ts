import type { Ledger, ReadOnlyLedger } from '../../ledger/ledger.js';
import { hasWork, type Run } from '../../ledger/run.js';
import type { Notify } from '../events.js';
import type { StepQueue } from '../queue.js';
import { enqueueOpenSteps } from './enqueue-steps.js';
import { type SettleLimits, settleIfDue } from './settle.js';

export interface ReconcileParts {
  readonly ledger: Ledger;
  readonly queue: Pick<StepQueue, 'add' | 'waitForCapacity'>;
  readonly limits: SettleLimits;
  readonly clock: () => number;
  /** The longest wait that the settings allow. */
  readonly longestWaitMs: number;
  readonly notify: Notify;
}

/**
 * Brings the queue in line with the ledger for every collected run: reopens steps that a dead process left behind,
 * settles a run whose last step was recorded just before a crash, and queues all open steps. References that are already
 * queued stay there, and the ledger refuses those of steps that are done.
 */
export async function reconcile(
  parts: ReconcileParts & {
    /** Called with a run that failed to reconcile; the other runs are not affected. */
    readonly onFault: (error: unknown, run: Run) => void;
  },
  signal: AbortSignal,
): Promise<void> {
  for (const run of await parts.ledger.runs.listActive()) {
    if (signal.aborted) return;
    if (run.collectedAt === undefined) continue;
    await reconcileRun(run, parts, signal).catch((error: unknown) => parts.onFault(error, run));
  }
}

export async function reconcileRun({ id }: Run, parts: ReconcileParts, signal: AbortSignal): Promise<Run> {
  const { ledger } = parts;
  await ledger.steps.reopenAbandoned(id);
  const current = await settleIfLeftOver(await ledger.runs.get(id), parts);
  if (hasWork(current)) await enqueueOpenSteps(current, parts, signal);
  return current;
}

/** Settles a run whose last step was recorded by a process that did not settle it, or has not yet. */
export async function settleIfLeftOver(
  run: Run,
  parts: Pick<ReconcileParts, 'ledger' | 'limits' | 'clock' | 'notify'>,
): Promise<Run> {
  return (await isOverdue(run, parts.ledger)) ? run : settleIfDue(run, parts);
}

/** An overdue run stays active, and the next `run` looks for its result again: there is nothing to settle. */
async function isOverdue({ id, state, openSteps }: Run, ledger: ReadOnlyLedger): Promise<boolean> {
  if (state !== 'awaiting-result' || openSteps > 0) return false;
  const { overdueSteps, failedSteps } = await ledger.runs.tally(id);
  return overdueSteps > 0 && failedSteps === 0;
}
