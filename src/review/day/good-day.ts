import { type BusinessDay, businessDayAt, createBusinessDay } from '../../booking/business-day.js';
import {
  hasDropped,
  hasUnexpectedCount,
  isToBeAccepted,
  mayCompleteDay,
  type Run,
  type RunState,
} from '../../ledger/run.js';

/** Whether the collect began before the day ended: later bookings are missing. */
export function wasCollectedEarly(
  day: BusinessDay,
  { collectStartedAt, startedAt }: Pick<Run, 'collectStartedAt' | 'startedAt'>,
): boolean {
  return (collectStartedAt ?? startedAt) <= day.lastInstant.getTime();
}

export const earlyNote = 'collected before the day was over';

/** Whether it succeeded, but before the day was over. Such a run looks done, and the day is not. */
export function endedTooEarly(run: Run, timezone: string): boolean {
  return run.state === 'succeeded' && wasCollectedEarly(createBusinessDay(run.day, timezone), run);
}

/** Whether the run reviewed all of its day's bookings, as far as the source has them: "succeeded" alone does not say that. */
export function reviewsDay(run: Run, timezone: string): boolean {
  return listObstacles(run, timezone).length === 0;
}

/** Whether the run makes its day a good one, as the metrics count it. */
export function makesDayGood(run: Run, timezone: string): boolean {
  return reviewsDay(run, timezone) && !isToBeAccepted(run);
}

/** Why a day is not good, or would not be if nobody had accepted it. */
export type NotGood =
  | { readonly code: Obstacle }
  | {
      readonly code: 'volume-dropped';
      readonly accepted: number;
      readonly usual: number | null;
      readonly minimum?: number;
      /** ISO 8601, UTC; null until somebody has accepted it. */
      readonly acceptedAt: string | null;
      readonly acceptedBy: string | null;
    };

/** A state other than `succeeded`, or what such a run lacks. */
type Obstacle = Exclude<RunState, 'succeeded'> | 'day-not-over' | 'unexpected-count';

/** What the run says about its day, for `--json`. */
export interface GoodDayReport {
  readonly isGood: boolean;
  readonly notGood: readonly NotGood[];
}

export function reportGoodDay(run: Run, timezone: string): GoodDayReport {
  return {
    isGood: makesDayGood(run, timezone),
    notGood: [...listObstacles(run, timezone).map((code) => ({ code })), ...listDrop(run)],
  };
}

function listObstacles(run: Run, timezone: string): Obstacle[] {
  return [
    ...(run.state === 'succeeded' ? [] : [run.state]),
    ...(!mayCompleteDay(run) || endedTooEarly(run, timezone) ? ['day-not-over' as const] : []),
    ...(hasUnexpectedCount(run) ? ['unexpected-count' as const] : []),
  ];
}

function listDrop({ volume, acceptance }: Run): NotGood[] {
  if (!volume || !hasDropped(volume)) return [];
  const { accepted, usual, minimum } = volume;
  return [
    {
      code: 'volume-dropped',
      accepted,
      usual,
      ...(minimum !== undefined && { minimum }),
      acceptedAt: acceptance ? new Date(acceptance.at).toISOString() : null,
      acceptedBy: acceptance?.by ?? null,
    },
  ];
}

/**
 * How many days the reviews are behind: 0 if yesterday's bookings, or later ones, were reviewed, 1 if only those of the day before
 * were, and so on.
 *
 * @param day the last day with a run that succeeded, YYYY-MM-DD
 */
export function countDaysBehind(day: string, now: number, zone: string): number {
  const yesterday = businessDayAt(new Date(now), zone).previous();
  return Math.max(0, Math.round((utcMidnight(yesterday.iso) - utcMidnight(day)) / 86_400_000));
}

function utcMidnight(day: string): number {
  return Date.parse(`${day}T00:00:00Z`);
}

/** False for a run that completes no day and had nothing to send: there are dozens a day. */
export function hasNews(run: Run): boolean {
  return mayCompleteDay(run) || run.state !== 'succeeded' || run.counts.accepted > 0;
}
