import type { JobsOptions } from 'bullmq';
import type { QueuedStep, StepReference } from '../../review/queue.js';

/** What the name of a job in BullMQ is for, the reference says: all have the same. */
export const jobName = 'step';
/** What all processes share. */
export const queueName = 'hotel-review-steps';
export const queuePrefix = 'hotel-review';

/**
 * BullMQ takes what has no priority before all that has one. The steps have one each, for among equals it keeps the order;
 * what it puts back, because its worker is gone, goes first.
 */
const priorities = { urgent: 1, normal: 2 };

export interface StepJob {
  readonly name: typeof jobName;
  readonly data: StepReference;
  readonly opts: JobsOptions;
}

export function toJob({ runId, step, attempt, notBefore, isUrgent }: QueuedStep, now: number): StepJob {
  return {
    name: jobName,
    data: { runId, step, attempt },
    opts: {
      jobId: jobIdOf({ runId, step, attempt }),
      priority: isUrgent ? priorities.urgent : priorities.normal,
      timestamp: now,
      ...(notBefore !== undefined && notBefore > now && { delay: Math.ceil(notBefore - now) }),
    },
  };
}

/** Of a reference there is one job at most. BullMQ wants no colon in it. */
function jobIdOf({ runId, step, attempt }: StepReference): string {
  return `${jobIdStart(runId)}${encodeURIComponent(step)}/${attempt}`;
}

/** What the ids of a run's jobs start with, and no others; without a sign that patterns of Redis know. */
export function jobIdStart(runId: string): string {
  return `${encodeURIComponent(runId).replaceAll('*', '%2A')}/`;
}
