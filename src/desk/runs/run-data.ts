import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { Run } from '../../ledger/run.js';
import type { PendingLimits } from '../../review/day/pending.js';
import { readWaiting } from '../../review/day/report.js';
import type { DeskVisit } from '../page.js';
import { readRunState, toMoment } from './run-moment.js';

/** Slices of a timeline: finer ones would be invisible. */
const slices = 120;
const troublesShown = 10;

/** The report of a run, as `run --json` prints it, with what its page shows besides. */
export async function readRunPage(ledger: ReadOnlyLedger, run: Run, limits: PendingLimits, visit: DeskVisit) {
  const { now } = visit;
  const length = Math.max(1, Math.ceil(((run.finishedAt ?? now) - run.startedAt) / slices));
  const [runState, waiting, steps, sums, troubles, rejects, warnings] = await Promise.all([
    readRunState(ledger, run, now),
    readWaiting(ledger, run, now),
    ledger.steps.count(run.id),
    ledger.steps.listAttemptSums(run.id, { from: run.startedAt, length }),
    ledger.steps.listTroubles(run.id, troublesShown),
    ledger.rejects.count(run.id),
    ledger.rejects.countWarnings(run.id),
  ]);
  const { work } = runState;
  return {
    ...toMoment(runState, limits, visit),
    ...waiting,
    /** When its bookings were read. */
    collect:
      run.collectStartedAt === undefined
        ? null
        : { startedAt: write(run.collectStartedAt), endedAt: writeIf(run.collectedAt) },
    steps,
    /** Those that have ended, summed up by kind, outcome and slice of time. */
    attempts: sums.map(({ startedAt, endedAt, ...sum }) => ({
      ...sum,
      startedAt: write(startedAt),
      endedAt: write(endedAt),
    })),
    /** What can still be worked on; null if nothing can. */
    open: work
      ? {
          performed: work.performed,
          abandoned: work.abandoned,
          ready: work.ready,
          delayed: work.delayed,
          oldest: work.oldest ? { kind: work.oldest.kind, startedAt: write(work.oldest.since) } : null,
          next: work.next ? { kind: work.next.kind, until: write(work.next.until) } : null,
        }
      : null,
    /** The latest attempts that did not succeed. */
    troubles: troubles.map(
      ({ step, attempt, startedAt, endedAt, outcome, code, httpStatus, statusCode }) => ({
        ...{ step, attempt, startedAt: write(startedAt), endedAt: write(endedAt), outcome, code },
        ...(httpStatus !== undefined && { httpStatus }),
        ...(statusCode !== undefined && { statusCode }),
      }),
    ),
    rejects,
    warnings,
    fileDetails: toFileDetails(run),
  };
}

export type RunPageData = Awaited<ReturnType<typeof readRunPage>>;

function toFileDetails({ file, linesBlanked }: Run) {
  if (!file) return null;
  const { bytes, triggeredAt, result, laterResults = [], removals = [] } = file;
  return {
    bytes: bytes ?? null,
    triggeredAt: writeIf(triggeredAt),
    result: result
      ? {
          name: result.name,
          bytes: result.size,
          sha256: result.sha256,
          rows: result.rows,
          isWhole: result.isWhole,
        }
      : null,
    laterResults,
    /** Our files on the server that were removed as agreed. */
    removed: removals.flatMap(({ path, outcome }) => (outcome === 'removed' ? [path] : [])),
    namesAreGone: linesBlanked === true,
  };
}

function write(instant: number): string {
  return new Date(instant).toISOString();
}

function writeIf(instant: number | undefined): string | null {
  return instant === undefined ? null : write(instant);
}
