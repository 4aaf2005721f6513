import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { OpenWork } from '../../ledger/progress.js';
import { hasWork, isActive, type Run } from '../../ledger/run.js';
import { judgeDay } from '../../review/day/good-day.js';
import {
  decidePending,
  describePending,
  type Pending,
  type PendingLimits,
} from '../../review/day/pending.js';
import { runToJson } from '../../review/day/report.js';
import { summariseVerdicts } from '../../review/verdicts/day-verdicts.js';
import { formatLocalInstant } from '../../text/format.js';
import type { DeskVisit } from '../page.js';

/** How many bookings were done at an instant. */
export interface Sample {
  readonly at: number;
  readonly done: number;
}

/** The part of the ledger that changes while a run works. */
export interface RunState {
  readonly run: Run;
  readonly work: OpenWork | undefined;
}

export async function readRunState(ledger: ReadOnlyLedger, run: Run, now: number): Promise<RunState> {
  return { run, work: hasWork(run) ? await ledger.steps.readOpenWork(run.id, now) : undefined };
}

/**
 * The live part of a run's page: the report of the run, as `run --json` prints it, and more.
 *
 * @param since where the rate of the estimate starts; by default when the run was collected
 */
export function toMoment(
  { run, work }: RunState,
  limits: PendingLimits,
  visit: Pick<DeskVisit, 'now' | 'timezone'>,
  since: Sample = { at: run.collectedAt ?? run.startedAt, done: 0 },
) {
  const pending = decidePending(run, work, limits);
  const left = isActive(run) ? estimateLeft(since, toSample(run, visit.now), run.counts.accepted) : undefined;
  return {
    ...runToJson(run, visit),
    /** Why it is not done, in a sentence; null for a run that succeeded. */
    pending: pending ? toPendingData(pending, visit) : null,
    /** How it went, in a sentence; null for a run that has not succeeded. */
    headline: run.state === 'succeeded' ? describeEnd(run, visit) : null,
    /** Until all bookings are delivered, estimated. */
    leftMs: left ?? null,
  };
}

export type RunMoment = ReturnType<typeof toMoment>;

function describeEnd(run: Run, { timezone }: Pick<DeskVisit, 'timezone'>): string {
  return judgeDay(summariseVerdicts(run.day, [run]), { timezone }).headline;
}

function toPendingData(pending: Pending, visit: Pick<DeskVisit, 'now' | 'timezone'>) {
  const words = `It ${describePending(pending, (instant) => writeInstant(instant, visit))}`;
  return {
    kind: pending.kind,
    words: /[.?!]$/.test(words) ? words : `${words}.`,
    ...('until' in pending && { until: new Date(pending.until).toISOString() }),
  };
}

export function toSample({ counts: { delivered, refused } }: Pick<Run, 'counts'>, at: number): Sample {
  return { at, done: delivered + refused };
}

/** At the rate since the earlier sample. */
export function estimateLeft(earlier: Sample, { at, done }: Sample, total: number): number | undefined {
  const [more, left] = [done - earlier.done, total - done];
  if (more <= 0 || left <= 0 || at <= earlier.at) return undefined;
  return (left * (at - earlier.at)) / more;
}

const nearMs = 10 * 60_000;

/** An instant for people: the time alone on the same day, and to the second if it is near. */
export function writeInstant(
  instant: number,
  { now, timezone }: Pick<DeskVisit, 'now' | 'timezone'>,
): string {
  const [day, time] = formatLocalInstant(instant, timezone).split(' ');
  if (day !== formatLocalInstant(now, timezone).split(' ')[0]) return `${day} ${time}`;
  const seconds = String(new Date(instant).getUTCSeconds()).padStart(2, '0');
  return Math.abs(instant - now) < nearMs ? `${time}:${seconds}` : `${time}`;
}
