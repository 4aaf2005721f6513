import { orAborted } from '../../async/abort.js';
import type { Ledger } from '../../ledger/ledger.js';
import { hasWork, type Run } from '../../ledger/run.js';
import type { OpenStep, StepCursor } from '../../ledger/step.js';
import type { QueuedStep, StepQueue } from '../queue.js';
import { type SettleParts, settleIfDue } from './settle.js';

/** Open steps per read from the ledger. */
const pageOfSteps = 500;

export interface EnqueueParts {
  readonly ledger: Ledger;
  readonly queue: StepQueue;
  readonly clock: () => number;
  /** The longest wait that the settings allow. */
  readonly longestWaitMs: number;
}

export type ReconcileParts = EnqueueParts & SettleParts;

/**
 * Brings the queue in line with the ledger for every collected run: reopens steps that a dead process left behind,
 * settles a run whose last step was recorded just before a crash, and queues all open steps. References that are already
 * queued stay there, and the ledger refuses those of steps that are done.
 *
 * @param onFault called with a run that failed to reconcile; the other runs are not affected
 */
export async function reconcile(
  parts: ReconcileParts,
  onFault: (error: unknown, run: Run) => void,
  signal: AbortSignal,
): Promise<void> {
  for (const run of await parts.ledger.runs.listActive()) {
    if (signal.aborted) return;
    if (run.collectedAt === undefined) continue;
    await reconcileRun(run, parts, signal).catch((error: unknown) => onFault(error, run));
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
export async function settleIfLeftOver(run: Run, parts: SettleParts): Promise<Run> {
  return (await isOverdue(run, parts.ledger)) ? run : settleIfDue(run, parts);
}

/** An overdue run stays active, and the next `run` looks for its result again: there is nothing to settle. */
async function isOverdue({ id, state, openSteps }: Run, ledger: Ledger): Promise<boolean> {
  if (state !== 'awaiting-result' || openSteps > 0) return false;
  const { overdueSteps, failedSteps } = await ledger.runs.tally(id);
  return overdueSteps > 0 && failedSteps === 0;
}

/** Queues all steps of a run that are open in the ledger, a page at a time. Queuing a step twice does no harm. */
export async function enqueueOpenSteps(
  run: { readonly id: string },
  { ledger, queue, clock, longestWaitMs }: EnqueueParts,
  signal: AbortSignal,
): Promise<void> {
  let after: StepCursor | undefined;
  do {
    const page = await ledger.steps.listOpen(run.id, { limit: pageOfSteps, ...(after && { after }) });
    const latest = clock() + longestWaitMs;
    await queue.add(page.map((step) => toQueuedStep(run.id, capWait(step, latest))));
    after = page.at(-1);
    if (after) await orAborted(queue.waitForCapacity(), signal);
  } while (after && !signal.aborted);
}

/** A step may have been recorded by a process whose clock was ahead: no wait is believed that exceeds the longest one. */
function capWait({ notBefore, ...step }: OpenStep, latest: number): OpenStep {
  return notBefore === undefined ? step : { ...step, notBefore: Math.min(notBefore, latest) };
}

/**
 * A reference to an open step. Steps that were tried before go first: if the service is down, a few of them show it, and
 * the others use up no try. So do steps that others wait for: the review file must not queue behind a thousand batches.
 */
export function toQueuedStep(runId: string, { name, attempt, notBefore }: OpenStep): QueuedStep {
  return {
    runId,
    step: name,
    attempt,
    isUrgent: attempt > 1 || !isBatch(name),
    ...(notBefore !== undefined && { notBefore }),
  };
}

function isBatch(name: string): boolean {
  return name.startsWith('batch ');
}
