import { untilAborted } from '../../async/abort.js';
import type { StepCursor, StepReader } from '../ledger.js';
import type { StepQueue } from '../queue.js';
import { toQueuedStep } from './queueing.js';

/** Open steps that are read from the ledger at a time. */
const pageOfSteps = 500;

export interface FeedingParts {
  readonly ledger: StepReader;
  readonly queue: Pick<StepQueue, 'add' | 'waitForCapacity'>;
}

/** Queues whatever the ledger holds open, a page at a time, however much of it was queued before. */
export async function feed(
  run: { readonly id: string },
  { ledger, queue }: FeedingParts,
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
