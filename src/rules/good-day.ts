import { formatCountOf, formatDuration } from '../base/format.js';
import { type BusinessDay, businessDayAt, createBusinessDay, isDayOver } from '../booking/business-day.js';
import { adviseInSentence, describeImplausible, shareOf } from './acceptance-words.js';
import type { CanaryState } from './canary.js';
import type { DayOutcome } from './day-outcome.js';
import {
  type AcceptanceKind,
  acceptanceOf,
  hasDropped,
  hasUnexpectedCount,
  isActive,
  isToBeAccepted,
  mayCompleteDay,
  type Run,
  type VolumeComparison,
  warnsOfVolume,
  wasToBeAccepted,
} from './run.js';
import { hasUnknownVerdicts } from './run-verdicts.js';
import { describeDrops, nameDrops } from './volume.js';
import { describeFilterWarnings } from './where-report.js';

/** Whether the collect began before the day ended, by our clock or by those of two others: later bookings are missing. */
export function wasCollectedEarly(day: LastInstant, run: Run): boolean {
  return !isOverFor(run, day, run.collectStartedAt ?? run.startedAt);
}

/** Whether the day is over at an instant of the clock by which the run was collected. */
export function isOverFor({ clockLead = 0 }: Run, day: LastInstant, at: number): boolean {
  return isDayOver(day, at - clockLead);
}

type LastInstant = Pick<BusinessDay, 'lastInstant'>;

export function describeEarly({ clockLead }: Run): string {
  const early = 'collected before the day was over';
  return clockLead === undefined
    ? early
    : `${early}: the clock of its machine was ${formatDuration(clockLead)} ahead`;
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

/** The run that went wrong last of a day that is good now; undefined for any other day. @param ofDay its runs, the newest first */
export function findRepaired(ofDay: readonly Run[], timezone: string): Run | undefined {
  const runs = ofDay.filter(mayCompleteDay);
  return runs[0] && makesDayGood(runs[0], timezone) ? runs.find(wasBad) : undefined;
}

export const repairedNote = 'now good';

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
  return [
    ...(volume && hasDropped(volume)
      ? [
          {
            code: 'volume-dropped' as const,
            accepted: volume.accepted,
            usual: volume.usual,
            ...(volume.minimum !== undefined && { minimum: volume.minimum }),
            ...acceptanceToJson(run, 'volume'),
          },
        ]
      : []),
    ...(implausible
      ? [
          {
            code: 'affected-implausible' as const,
            ...implausible,
            share: shareOf(implausible),
            ...acceptanceToJson(run, 'affected'),
          },
        ]
      : []),
  ];
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

/**
 * `good`: a complete day, and each of its bookings has the verdict correct. `sent`: complete, but some verdicts are unknown.
 * `attention`: somebody has to act. `unfinished`: it is being worked on, or waits.
 */
export type Judgement = 'good' | 'sent' | 'attention' | 'unfinished';

/** Said of a day without a run. */
export const noRun = 'No run: nothing of this day was reviewed.';

/** Said of a day that misses none. */
export const noRunAsUsual = 'No run, as on this weekday in the weeks before.';

/**
 * Says in a sentence how a day went. Sent is not reviewed, and unknown never looks good. (Design 11.)
 *
 * @param canary what became of the day's canary
 */
export function judgeDay(
  outcome: DayOutcome,
  { timezone, canary }: { readonly timezone: string; readonly canary?: CanaryState | undefined },
) {
  const say = (judgement: Judgement, headline: string) => ({ judgement, headline });
  const { latest: run, knowledge } = outcome;
  if (!run) return say('attention', noRun);
  if (run.state === 'failed') return say('attention', describeFailure(run));
  if (run.state === 'cancelled') return say('attention', 'The run was cancelled: the day is not reviewed.');
  const found = findProblems(outcome, run);
  if (canary === 'missed')
    found.push('nothing named the canary: the service reviews nothing, or its e-mails do not arrive');
  if (found.length > 0) return say('attention', `${found.join('; ')}.`);
  if (run.state === 'awaiting-result') return say('unfinished', 'Delivered; the result has not arrived yet.');
  if (isActive(run)) return say('unfinished', `The run is ${run.state}.`);
  if (!makesDayGood(run, timezone))
    return say('unfinished', 'The day is not complete: it was collected before it was over.');
  if (knowledge === 'nothing-sent') return say('sent', 'The source had no bookings: nothing was sent.');
  if (hasUnknownVerdicts(outcome)) {
    const how =
      knowledge === 'judged'
        ? 'Some verdicts come by e-mail only, so not all are known to be correct.'
        : 'Verdicts come by e-mail only, so none is known to be correct.';
    return say('sent', `Sent for review. ${how}`);
  }
  return say('good', `All ${formatCountOf(outcome.accepted, 'booking')} have the verdict correct.`);
}

/** Turns the message into a sentence: in logs it begins in lower case. */
function describeFailure({ failure }: Run): string {
  if (!failure) return 'The run failed.';
  const { message } = failure;
  return `The run failed. ${message.slice(0, 1).toUpperCase()}${message.slice(1)}${/[.!?]$/.test(message) ? '' : '.'}`;
}

/** The same, but for wrong mappings that the run found: they are no fault of the run. What its bookings still need stands in their cases. */
export function judgeRunOfDay(outcome: DayOutcome, facts: Parameters<typeof judgeDay>[1]) {
  return judgeDay(outcome.affected ? { ...outcome, affected: 0 } : outcome, facts);
}

function findProblems({ affected, unanswered, refused, knowledge }: DayOutcome, run: Run): string[] {
  return [
    ...(affected ? [`${formatCountOf(affected, 'booking')} on an incorrect mapping`] : []),
    ...(unanswered && knowledge === 'judged'
      ? [`${formatCountOf(unanswered, 'booking')} without a verdict`]
      : []),
    ...(refused > 0 ? [`${formatCountOf(refused, 'booking')} refused by the service`] : []),
    ...(run.volume && warnsOfVolume(run) ? [describeVolume(run.day, run.volume)] : []),
    ...(run.implausible && isToBeAccepted(run, ['affected'])
      ? [`${describeImplausible(run.implausible)}; ${adviseInSentence('affected', run.day)}`]
      : []),
    ...describeFilterWarnings(run),
  ];
}

/** A day that is not good for it needs somebody; what a single provider lost is only told. */
function describeVolume(day: string, volume: VolumeComparison): string {
  const drop = `${nameDrops(volume)} (${describeDrops(volume)[0]})`;
  return hasDropped(volume) ? `${drop}: ${adviseInSentence('volume', day)}` : drop;
}
