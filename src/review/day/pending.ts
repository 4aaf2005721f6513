import { formatCount, formatCountOf, formatDuration } from '../../base/format.js';
import type { RetryPolicy } from '../../base/retry.js';
import type { DelayedStep, OpenWork } from '../../ledger/steps.js';
import { isOverdue, type Run } from '../../rules/run.js';
import type { StepKind } from '../../rules/step.js';

/** Why a run is not done: the closed set. Instants are epoch milliseconds. */
export type Pending = NonNullable<ReturnType<typeof decidePending>>;

export interface PendingLimits {
  readonly retry: Omit<RetryPolicy, 'retryAfterCapMs' | 'waits'>;
  readonly resultTimeoutMs: number;
}

/**
 * Why a run is not done; undefined for one that succeeded.
 *
 * @param work undefined for a run that has no steps to perform
 */
export function decidePending(run: Run, work: OpenWork | undefined, limits: PendingLimits) {
  switch (run.state) {
    case 'succeeded':
      return undefined;
    case 'failed':
      return { kind: 'stopped', message: run.failure?.message ?? '' } as const;
    case 'cancelled':
      return { kind: 'cancelled', reason: run.cancelReason } as const;
    case 'collecting':
      return { kind: 'collecting', read: run.counts.read } as const;
    case 'delivering':
    case 'awaiting-result':
      return decideOpen(run, work, limits);
  }
}

function decideOpen(run: Run, work: OpenWork | undefined, { resultTimeoutMs, retry }: PendingLimits) {
  const deadline = (run.file?.triggeredAt ?? run.startedAt) + resultTimeoutMs;
  if (isOverdue(run)) return { kind: 'overdue', deadline } as const;
  const { performed = 0, ready = 0, delayed = 0, oldest, next } = work ?? {};
  if (performed > 0 && oldest) {
    const { step, kind: does, since } = oldest;
    return { kind: 'performed', step, does, steps: performed, since } as const;
  }
  if (next?.kind === 'await-result' && ready === 0 && delayed === 1)
    return { kind: 'awaiting-result', deadline, until: next.until, code: next.code } as const;
  if (next) return delay(next, ready + delayed - 1, retry);
  if (oldest) return { kind: 'abandoned', step: oldest.step } as const;
  return { kind: 'queued', steps: ready } as const;
}

/** @param others how many other steps are open */
function delay(
  { step, until, code, endedAt, tries, waits }: DelayedStep,
  others: number,
  retry: PendingLimits['retry'],
) {
  const delayMs = until - (endedAt ?? until);
  // A wait of our own is no longer than this. What a wait was for is not recorded.
  const longestBackOff = Math.min(retry.capMs, retry.baseMs * 2 ** (tries - 1));
  const isAsked = waits > 0 && (tries === 0 || delayMs > longestBackOff);
  return {
    kind: 'delayed' as const,
    step,
    until,
    /** How its last attempt ended. */
    code,
    /** How long the service asked to wait, in whole seconds: a fraction was added so that not all steps come back together. */
    ...(isAsked && delayMs > 0 && { askedMs: delayMs - (delayMs % 1_000) }),
    /** The try that comes next, out of how many. */
    attempt: Math.min(tries + 1, retry.tries),
    of: retry.tries,
    others,
  };
}

/**
 * Says it in a plain sentence whose subject is the run.
 *
 * @param format writes an instant
 */
export function describePending(pending: Pending, format: (instant: number) => string): string {
  switch (pending.kind) {
    case 'collecting':
      return `is reading the source: ${formatCountOf(pending.read, 'record')} so far`;
    case 'performed':
      return `is being worked on: ${nameWork(pending.does, pending.steps)} since ${format(pending.since)}`;
    case 'delayed':
      return describeDelay(pending, format);
    case 'awaiting-result':
      return `waits for its result until ${format(pending.deadline)}; looks for it again at ${format(pending.until)} (${pending.code})`;
    case 'overdue':
      return `waits for its result, which did not arrive by ${format(pending.deadline)}: ask the service for it, then look for it again`;
    case 'abandoned':
      return `waits to be resumed: the process that performed ${pending.step} is gone`;
    case 'queued':
      return pending.steps === 0
        ? 'is about to end'
        : `waits for a worker: ${formatCountOf(pending.steps, 'step')} can be performed, and no process performs one`;
    case 'stopped':
      return `stopped because of this: ${pending.message}`;
    case 'cancelled':
      return `was cancelled${pending.reason === undefined ? '' : `: ${pending.reason}`}`;
  }
}

function describeDelay(
  { step, until, code, askedMs, attempt, of, others }: ReturnType<typeof delay>,
  format: (instant: number) => string,
): string {
  const why =
    askedMs === undefined
      ? `${step} ended with ${code}`
      : `the service asked for ${formatWait(askedMs)} (${step}: ${code})`;
  const rest =
    others === 0 ? '' : `; ${formatCountOf(others, 'other step')} ${others === 1 ? 'is' : 'are'} open`;
  return `waits until ${format(until)}: ${why}; then comes attempt ${attempt} of ${of}${rest}`;
}

/** Without tenths: the service asks for whole seconds. */
function formatWait(milliseconds: number): string {
  return milliseconds < 120_000 ? `${milliseconds / 1_000} s` : formatDuration(milliseconds);
}

function nameWork(kind: StepKind, steps: number): string {
  if (kind !== 'batch') return works[kind];
  return steps === 1 ? 'a batch is being sent' : `${formatCount(steps)} batches are being sent, the first`;
}

const works: Readonly<Record<Exclude<StepKind, 'batch'>, string>> = {
  write: 'the file is being written',
  upload: 'the file is being uploaded',
  trigger: 'the service is being asked to review the file',
  'await-result': 'the result is being looked for',
  archive: 'the file and its result are being archived',
  canary: 'the canary is being sent',
};
