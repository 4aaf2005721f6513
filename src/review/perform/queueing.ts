import type { OpenStep } from '../ledger.js';
import type { QueuedStep } from '../queue.js';

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
