import type { CanaryState } from '../../ledger/canaries.js';
import { hasDropped, isActive, type Run, type VolumeComparison, warnsOfVolume } from '../../ledger/run.js';
import { formatCountOf } from '../../text/format.js';
import { type DayVerdicts, hasUnknownVerdicts } from '../verdicts/day-verdicts.js';
import { describeDrops } from '../volume.js';
import { makesDayGood } from './good-day.js';

/**
 * `good`: a complete day, and each of its bookings has the verdict correct. `sent`: complete, but some verdicts are unknown.
 * `attention`: somebody has to act. `unfinished`: it is being worked on, or waits.
 */
export type Judgement = 'good' | 'sent' | 'attention' | 'unfinished';

interface JudgedDay {
  readonly judgement: Judgement;
  /** The judgement in a sentence. */
  readonly headline: string;
}

interface JudgeOptions {
  readonly timezone: string;
  /** What became of the day's canary. */
  readonly canary?: CanaryState | undefined;
}

/** Says in a sentence how a day went. Sent is not reviewed, and unknown never looks good. (Design 11.) */
export function judgeDay(verdicts: DayVerdicts, { timezone, canary }: JudgeOptions): JudgedDay {
  const [run] = verdicts.newer ? [verdicts.newer] : verdicts.runs;
  if (!run) return { judgement: 'attention', headline: 'No run: nothing of this day was reviewed.' };
  if (run.state === 'failed') return { judgement: 'attention', headline: describeFailure(run) };
  if (run.state === 'cancelled')
    return { judgement: 'attention', headline: 'The run was cancelled: the day is not reviewed.' };
  const found = [
    ...findProblems(verdicts, run),
    ...(canary === 'missed'
      ? ['nothing named the canary: the service reviews nothing, or its e-mails do not arrive']
      : []),
  ];
  if (found.length > 0) return { judgement: 'attention', headline: `${found.join('; ')}.` };
  if (run.state === 'awaiting-result')
    return { judgement: 'unfinished', headline: 'Delivered; the result has not arrived yet.' };
  if (isActive(run)) return { judgement: 'unfinished', headline: `The run is ${run.state}.` };
  if (!makesDayGood(run, timezone))
    return {
      judgement: 'unfinished',
      headline: 'The day is not complete: it was collected before it was over.',
    };
  if (verdicts.knowledge === 'nothing-sent')
    return { judgement: 'sent', headline: 'The source had no bookings: nothing was sent.' };
  const unknown = verdicts.runs.filter(hasUnknownVerdicts);
  if (unknown.length > 0)
    return {
      judgement: 'sent',
      headline:
        verdicts.knowledge === 'judged'
          ? 'Sent for review. Some verdicts come by e-mail only, so not all are known to be correct.'
          : 'Sent for review. Verdicts come by e-mail only, so none is known to be correct.',
    };
  const bookings = verdicts.runs.reduce((sum, { counts }) => sum + counts.accepted, 0);
  return {
    judgement: 'good',
    headline: `All ${formatCountOf(bookings, 'booking')} have the verdict correct.`,
  };
}

/** Turns the message into a sentence: in logs it begins in lower case. */
function describeFailure({ failure }: Run): string {
  if (!failure) return 'The run failed.';
  const { message } = failure;
  return `The run failed. ${message.slice(0, 1).toUpperCase()}${message.slice(1)}${/[.!?]$/.test(message) ? '' : '.'}`;
}

function findProblems({ affected, unanswered, knowledge }: DayVerdicts, run: Run): string[] {
  const { refused } = run.counts;
  return [
    ...(affected ? [`${formatCountOf(affected, 'booking')} on an incorrect mapping`] : []),
    ...(unanswered && knowledge === 'judged'
      ? [`${formatCountOf(unanswered, 'booking')} without a verdict`]
      : []),
    ...(refused > 0 ? [`${formatCountOf(refused, 'booking')} refused by the service`] : []),
    ...(run.volume && warnsOfVolume(run) ? [describeVolume(run.day, run.volume)] : []),
  ];
}

/** A day that is not good for it needs somebody; what a single provider lost is only told. */
function describeVolume(day: string, volume: VolumeComparison): string {
  const drop = `far fewer bookings than usual (${describeDrops(volume)[0]})`;
  return hasDropped(volume)
    ? `${drop}: check the export; \`replay ${day} --late\` sends what was missing, \`run ${day} --accept-volume\` accepts the day`
    : drop;
}
