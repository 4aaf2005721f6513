import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { Run } from '../../ledger/run.js';
import type { Ending, StepKind } from '../../ledger/step.js';

/** A shorter pause is a wait between two tries, or for a worker. */
const shortestIdleMs = 10 * 60_000;
/** Finer slices would not find more. */
const sliceMs = 60_000;

/** Epoch milliseconds, or as JSON has it. */
type Instant = number | string;

/** A time in which somebody worked on a run; without a kind it is the collect. */
interface Work {
  readonly startedAt: Instant;
  /** Null if it did not end. */
  readonly endedAt: Instant | null;
  readonly kind?: StepKind;
  readonly outcome?: Ending;
}

/**
 * How long nobody worked on a run, in milliseconds: from its failure, or the end of its process, until somebody resumed it. The
 * wait for the result is no idle time, because the service works. An active run may be at work now.
 */
export function countIdleMs(
  { startedAt, finishedAt }: { readonly startedAt: Instant; readonly finishedAt?: Instant | null },
  work: readonly Work[],
): number {
  const inOrder = work
    .map(({ startedAt: from, endedAt: to, ...does }) => ({ ...does, from: toMs(from), to: toMs(to ?? from) }))
    .sort((one, other) => one.from - other.from);
  let idle = 0;
  let reached = toMs(startedAt);
  let awaitsResult = false;
  const pauseUntil = (instant: number) => {
    const pause = instant - reached;
    if (pause >= shortestIdleMs && !awaitsResult) idle += pause;
  };
  for (const { from, to, kind, outcome } of inOrder) {
    pauseUntil(from);
    reached = Math.max(reached, to);
    if (kind === 'await-result') awaitsResult = outcome === 'retry';
  }
  if (finishedAt !== undefined && finishedAt !== null) pauseUntil(toMs(finishedAt));
  return idle;
}

function toMs(instant: Instant): number {
  return new Date(instant).getTime();
}

/** The same from the ledger, for a page that shows many runs: only those that were taken over need a query. */
export async function readIdleMs(ledger: ReadOnlyLedger, run: Run): Promise<number> {
  const { id, token, startedAt, collectStartedAt, collectedAt = null } = run;
  if (token === 1) return 0;
  const collect =
    collectStartedAt === undefined ? [] : [{ startedAt: collectStartedAt, endedAt: collectedAt }];
  const attempts = await ledger.steps.listAttemptSums(id, { from: startedAt, length: sliceMs });
  return countIdleMs(run, [...collect, ...attempts]);
}
