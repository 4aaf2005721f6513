import { untilAborted } from '../../async/abort.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { OpenStep, StepCursor } from '../../ledger/step.js';

import type { QueuedStep, StepQueue } from '../queue.js';

/** Open steps per read from the ledger. */
const pageOfSteps = 500;

export interface EnqueueParts {
  readonly ledger: ReadOnlyLedger;
  readonly queue: Pick<StepQueue, 'add' | 'waitForCapacity'>;
  readonly clock: () => number;
  /** The longest wait that the settings allow. */
  readonly longestWaitMs: number;
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

/** Waits for the work or the abort. Leaves no listener on the signal, which may live as long as the process. */
async function orAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  try {
    await Promise.race([work, untilAborted(signal, over.signal)]);
  } finally {
    over.abort();
  }
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
