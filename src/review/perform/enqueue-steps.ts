import { untilAborted } from '../../async/abort.js';
import type { OpenStep, StepCursor, StepReader } from '../ledger.js';
import type { QueuedStep, StepQueue } from '../queue.js';

/** Open steps that are read from the ledger at a time. */
const pageOfSteps = 500;

export interface EnqueueParts {
  readonly ledger: StepReader;
  readonly queue: Pick<StepQueue, 'add' | 'waitForCapacity'>;
}

/** Queues whatever the ledger holds open, a page at a time, however much of it was queued before. */
export async function enqueueOpenSteps(
  run: { readonly id: string },
  { ledger, queue }: EnqueueParts,
  signal: AbortSignal,
): Promise<void> {
  let after: StepCursor | undefined;
  do {
    const page = await ledger.listOpenSteps(run.id, { limit: pageOfSteps, ...(after && { after }) });
    await queue.add(page.map((step) => toQueuedStep(run.id, step)));
    after = page.at(-1);
    if (after) await orAborted(queue.waitForCapacity(), signal);
  } while (after && !signal.aborted);
}

/** Waits for it, or for the abort; leaves nothing on the signal, which may live as long as the process. */
async function orAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  try {
    await Promise.race([work, untilAborted(signal, over.signal)]);
  } finally {
    over.abort();
  }
}

/**
 * Makes a reference of an open step. What was tried before goes first: a service that is down is then known by a few
 * steps, not by all of them. And so do the steps that others wait for: the review file must not stand behind a thousand
 * batches.
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
