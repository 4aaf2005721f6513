import { type BusinessDay, businessDayAt, createBusinessDay, isDayOver } from '../booking/business-day.js';
import { shareOf } from './acceptance-words.js';
import {
  type AcceptanceKind,
  acceptanceOf,
  hasDropped,
  hasUnexpectedCount,
  isToBeAccepted,
  mayCompleteDay,
  type Run,
  wasToBeAccepted,
} from './run.js';

/** Whether the collect began before the day ended, by our clock or by those of two others: later bookings are missing. */
export function wasCollectedEarly(day: BusinessDay, run: Run): boolean {
  return !isOverFor(run, day, run.collectStartedAt ?? run.startedAt);
}

/** Whether the day is over at an instant of the clock by which the run was collected. */
export function isOverFor({ clockLead = 0 }: Run, day: BusinessDay, at: number): boolean {
  return isDayOver(day, at - clockLead);
}

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

/** Whether nobody has to act: the next night sends what a run that came before the day's end could not know. */
export function isGoodSoFar(run: Run, timezone: string): boolean {
  return listObstacles(run, timezone).every((code) => code === 'day-not-over') && !isToBeAccepted(run);
}

/** Whether the run went wrong: it failed, was given up, had another number of bookings than it should, or too many affected ones. */
export function wasBad(run: Run): boolean {
  const hasEndedBadly = run.state === 'failed' || run.state === 'cancelled';
  return hasEndedBadly || hasUnexpectedCount(run) || wasToBeAccepted(run);
}

/** Whether the newest run that may complete its day does. @param ofDay its runs, the newest first */
export function isGoodDay(ofDay: readonly Run[], timezone: string): boolean {
  const newest = ofDay.find(mayCompleteDay);
  return newest !== undefined && makesDayGood(newest, timezone);
}

/** What the run says about its day, for `--json`: also why it would not be good if nobody had accepted it. */
export function reportGoodDay(run: Run, timezone: string) {
  return {
    isGood: makesDayGood(run, timezone),
    notGood: [...listObstacles(run, timezone).map((code) => ({ code })), ...listOddities(run)],
  };
}

/** A state other than `succeeded`, or what such a run lacks. */
function listObstacles(run: Run, timezone: string) {
  return [
    ...(run.state === 'succeeded' ? [] : [run.state]),
    ...(!mayCompleteDay(run) || endedTooEarly(run, timezone) ? ['day-not-over' as const] : []),
    ...(hasUnexpectedCount(run) ? ['unexpected-count' as const] : []),
  ];
}

/** What somebody has to accept, or has accepted. */
function listOddities(run: Run) {
  const { volume, implausible } = run;
  const dropped = volume &&
    hasDropped(volume) && {
      code: 'volume-dropped' as const,
      accepted: volume.accepted,
      usual: volume.usual,
      ...(volume.minimum !== undefined && { minimum: volume.minimum }),
      ...acceptanceToJson(run, 'volume'),
    };
  const many = implausible && {
    code: 'affected-implausible' as const,
    ...implausible,
    share: shareOf(implausible),
    ...acceptanceToJson(run, 'affected'),
  };
  return [...(dropped ? [dropped] : []), ...(many ? [many] : [])];
}

function acceptanceToJson(run: Run, kind: AcceptanceKind) {
  const acceptance = acceptanceOf(run, kind);
  return {
    /** Null until somebody has accepted it. */
    acceptedAt: acceptance ? new Date(acceptance.at).toISOString() : null,
    acceptedBy: acceptance?.by ?? null,
  };
}

/**
 * How many days the reviews are behind: 0 if yesterday's bookings, or later ones, were reviewed, 1 if only those of the day before
 * were, and so on.
 *
 * @param day the last day with a run that succeeded, YYYY-MM-DD
 */
export function countDaysBehind(day: string, now: number, zone: string): number {
  const yesterday = businessDayAt(new Date(now), zone).previous();
  // Dates without a time are read as midnights in UTC.
  return Math.max(0, Math.round((Date.parse(yesterday.iso) - Date.parse(day)) / 86_400_000));
}

/** False for a run that completes no day and had nothing to send: there are dozens a day. */
export function hasNews(run: Run): boolean {
  return mayCompleteDay(run) || run.state !== 'succeeded' || run.counts.accepted > 0;
}
