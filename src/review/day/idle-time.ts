import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { AttemptSum } from '../../ledger/progress.js';
import type { Run } from '../../ledger/run.js';

/** A shorter pause is a wait between two tries, or for a worker. */
const shortestIdleMs = 10 * 60_000;
/** Finer slices would not find more. */
const sliceMs = 60_000;

/** By run, how much of its duration nobody worked on it, in milliseconds: only of those that were resumed after a pause. */
export async function readIdle(ledger: ReadOnlyLedger, runs: readonly Run[]) {
  const idle: Record<string, number> = {};
  // Only a run that was taken over needs a query.
  for (const run of runs.filter(({ token }) => token > 1)) {
    const slices = { from: run.startedAt, length: sliceMs };
    const ms = countIdleMs(run, await ledger.steps.listAttemptSums(run.id, slices));
    if (ms > 0) idle[run.id] = ms;
  }
  return idle;
}

/**
 * From the failure of a run, or the end of its process, until somebody resumed it. The wait for the result is no idle time, because the
 * service works. An active run may be at work now.
 *
 * @param attempts that have ended, in the order in which they began
 */
function countIdleMs(
  { startedAt, collectStartedAt, collectedAt, finishedAt }: Run,
  attempts: readonly AttemptSum[],
): number {
  let idle = 0;
  // A collect that was cut off has left no times.
  let reached = collectStartedAt ?? startedAt;
  let awaitsResult = false;
  const work = (from: number, to: number) => {
    const pause = from - reached;
    if (pause >= shortestIdleMs && !awaitsResult) idle += pause;
    reached = Math.max(reached, to);
  };
  if (collectStartedAt !== undefined) work(collectStartedAt, collectedAt ?? finishedAt ?? collectStartedAt);
  for (const { kind, outcome, startedAt: from, endedAt: to } of attempts) {
    work(from, to);
    if (kind === 'await-result') awaitsResult = outcome === 'retry';
  }
  if (finishedAt !== undefined) work(finishedAt, finishedAt);
  return idle;
}
