import type { BusinessDay } from '../../booking/business-day.js';
import type { CanaryState } from '../../ledger/canaries.js';
import {
  isToBeAccepted,
  mayCompleteDay,
  type Run,
  type RunState,
  type Trigger,
  warnsOfVolume,
} from '../../ledger/run.js';
import { judgeDay, makesDayGood, reviewsDay } from '../../review/day/good-day.js';
import { summariseVerdicts } from '../../review/verdicts/day-verdicts.js';
import { findDayRange } from '../../schedule/due-days.js';
import type { Slots } from '../../schedule/slots.js';
import { summariseLatestDay } from '../../server/ledger-metrics.js';
import type { DayMark } from '../marks.js';

/** A day of the calendar. */
export interface ShownDay {
  /** YYYY-MM-DD */
  readonly day: string;
  readonly judgement: DayMark;
  /** The judgement in a sentence. */
  readonly headline: string;
  /** Its run has begun, or should have. */
  readonly isDue: boolean;
  /** A complete run reviewed it, as in `status --json`. */
  readonly isGood: boolean;
  /** It was not reviewed by its deadline. */
  readonly isLate: boolean;
  /** Its run found far fewer bookings than usual, and nobody has accepted that. */
  readonly isDrop: boolean;
  /** It is not good until somebody accepts so few bookings. */
  readonly isToBeAccepted: boolean;
  /** What started the run that counts; `catch-up` is a slot after its own. */
  readonly how: Trigger | 'catch-up' | null;
  readonly runs: number;
  /** The run that counts. */
  readonly runId: string | null;
  readonly state: RunState | null;
  readonly durationMs: number | null;
  /** How many bookings are usual; null if it is not compared. */
  readonly usual: number | null;
  /** Of all runs that together sent the day; null stands for unknown. */
  readonly counts: ShownCounts | null;
}

interface ShownCounts {
  readonly accepted: number;
  readonly rejected: number;
  readonly delivered: number;
  readonly refused: number;
  readonly pending: number;
  readonly affected: number | null;
  readonly unanswered: number | null;
}

interface JudgeQuestion {
  readonly now: number;
  /** The nightly schedule. */
  readonly nights: Slots;
  /** The day of the last slot, YYYY-MM-DD; undefined if none has passed yet. */
  readonly dueUntil: string | undefined;
  /** The first day with a run; undefined for an empty ledger. */
  readonly firstDay: string | undefined;
  /** Epoch milliseconds; undefined if the day has none. */
  readonly findDeadline: (day: BusinessDay) => number | undefined;
}

interface FactsOfDay {
  /** Newest first. */
  readonly runs: readonly Run[];
  readonly canary: CanaryState | undefined;
  readonly usual: number | null;
}

/** How a day went and how it ran, for its cell in the calendar. */
export function judgeShownDay(
  day: BusinessDay,
  { runs, canary, usual }: FactsOfDay,
  { now, nights, dueUntil, firstDay, findDeadline }: JudgeQuestion,
): ShownDay {
  const { iso, zone: timezone } = day;
  const verdicts = summariseVerdicts(iso, runs);
  const run = verdicts.newer ?? verdicts.runs[0];
  const isReached = firstDay !== undefined && iso >= firstDay;
  const isDue = isReached && ((dueUntil !== undefined && iso <= dueUntil) || runs.some(mayCompleteDay));
  const judged = judgeDay(verdicts, { timezone, canary });
  const deadline = isDue ? findDeadline(day) : undefined;
  const { records, bookings, affected, unanswered } = summariseLatestDay(iso, runs, null);
  const counts = {
    accepted: records.accepted,
    rejected: records.rejected,
    ...bookings,
    ...{ affected, unanswered },
  };
  return {
    day: iso,
    judgement: run ? judged.judgement : isDue ? 'missing' : 'not-due',
    headline:
      run || isDue ? judged.headline : isReached ? 'Its run is still to come.' : 'Before the first run.',
    isDue,
    isGood: run !== undefined && makesDayGood(run, timezone),
    isLate: deadline !== undefined && (findReviewedSince(runs, timezone) ?? now) > deadline,
    isDrop: run !== undefined && warnsOfVolume(run),
    isToBeAccepted: run?.state === 'succeeded' && isToBeAccepted(run),
    how: run ? howItRan(run, day, nights) : null,
    runs: runs.length,
    runId: run?.id ?? null,
    state: run?.state ?? null,
    durationMs: run ? Math.max(0, (run.finishedAt ?? now) - run.startedAt) : null,
    usual,
    counts: run ? counts : null,
  };
}

/** When the first run that reviewed the day ended. */
function findReviewedSince(runs: readonly Run[], timezone: string): number | undefined {
  return runs.findLast((run) => reviewsDay(run, timezone))?.finishedAt;
}

function howItRan(run: Run, day: BusinessDay, nights: Slots): ShownDay['how'] {
  return run.trigger === 'schedule' && isCatchUp(run, day, nights) ? 'catch-up' : run.trigger;
}

const nightMs = 86_400_000;

/** Whether a later day's slot started it. */
function isCatchUp({ startedAt }: Run, day: BusinessDay, nights: Slots): boolean {
  // Finding slots takes long, and most runs need none.
  if (startedAt <= day.lastInstant.getTime() + nightMs) return false;
  const range = findDayRange(nights, new Date(startedAt), 0);
  return range !== undefined && day.iso < range.from.iso;
}
