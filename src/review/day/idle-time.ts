import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { Run } from '../../ledger/run.js';
import type { Ending, StepKind } from '../../ledger/step.js';

/** A shorter pause is a wait between two tries, or for a worker. */
const shortestIdleMs = 10 * 60_000;
/** Finer slices would not find more. */
const sliceMs = 60_000;

/** Epoch milliseconds, or as JSON has it. */
type Instant = number | string;

interface Worked {
  readonly startedAt: Instant;
  readonly finishedAt?: Instant | null;
  /** When its bookings were read; null if they were not. */
  readonly collect: { readonly startedAt: Instant; readonly endedAt: Instant | null } | null;
}

interface Attempts {
  readonly startedAt: Instant;
  readonly endedAt: Instant;
  readonly kind: StepKind;
  readonly outcome: Ending;
}

/**
 * How long nobody worked on a run, in milliseconds: from its failure, or the end of its process, until somebody resumed it. The
 * wait for the result is no idle time, because the service works. An active run may be at work now.
 *
 * @param attempts that have ended, one by one or summed up
 */
export function countIdleMs(
  { startedAt, finishedAt, collect }: Worked,
  attempts: readonly Attempts[],
): number {
  let idle = 0;
  // A collect that was cut off has left no times.
  let reached = toMs(collect?.startedAt ?? startedAt);
  let awaitsResult = false;
  const work = (from: Instant, to: Instant) => {
    const pause = toMs(from) - reached;
    if (pause >= shortestIdleMs && !awaitsResult) idle += pause;
    reached = Math.max(reached, toMs(to));
  };
  if (collect) work(collect.startedAt, collect.endedAt ?? finishedAt ?? collect.startedAt);
  for (const attempt of attempts.toSorted((one, other) => toMs(one.startedAt) - toMs(other.startedAt))) {
    work(attempt.startedAt, attempt.endedAt);
    if (attempt.kind === 'await-result') awaitsResult = attempt.outcome === 'retry';
  }
  if (finishedAt) work(finishedAt, finishedAt);
  return idle;
}

function toMs(instant: Instant): number {
  return new Date(instant).getTime();
}

/** When the bookings of a run were read, as JSON has it. */
export function collectToJson({ collectStartedAt, collectedAt }: Run) {
  if (collectStartedAt === undefined) return null;
  return {
    startedAt: new Date(collectStartedAt).toISOString(),
    endedAt: collectedAt === undefined ? null : new Date(collectedAt).toISOString(),
  };
}

/** By run, how much of its duration nobody worked on it: only of those that were resumed after a pause. */
export async function readIdle(ledger: ReadOnlyLedger, runs: readonly Run[]) {
  const idle: Record<string, number> = {};
  // Only a run that was taken over needs a query.
  for (const run of runs.filter(({ token }) => token > 1)) {
    const slices = { from: run.startedAt, length: sliceMs };
    const attempts = await ledger.steps.listAttemptSums(run.id, slices);
    const ms = countIdleMs({ ...run, collect: collectToJson(run) }, attempts);
    if (ms > 0) idle[run.id] = ms;
  }
  return idle;
}
