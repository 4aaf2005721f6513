import { formatCount, formatCountOf, formatDuration, formatLocalInstant } from '../base/format.js';
import { adviseOn, describeImplausible } from './acceptance-words.js';
import { type DayOutcome, isEmptyDay, outcomeOfRun } from './day-outcome.js';
import {
  type Advice,
  type Finding,
  type FindingCode,
  isDecision,
  tellFinding,
  toSentence,
} from './finding.js';
import { endedTooEarly, wasBad } from './good-day.js';
import { listResultFiles } from './review-file.js';
import {
  type AcceptanceKind,
  acceptanceOf,
  countRecords,
  hasDropped,
  hasUnexpectedCount,
  isUnusual,
  mayCompleteDay,
  type Run,
} from './run.js';
import { hasUnknownVerdicts, nameState } from './run-verdicts.js';
import { describeDrops, nameDrops } from './volume.js';
import { describeFilterWarnings } from './where-report.js';

/**
 * `good`: a complete day, and each of its bookings has the verdict correct. `sent`: complete, but some verdicts are unknown.
 * `attention`: somebody has to act. `unfinished`: it is being worked on, or waits.
 */
export type Judgement = 'good' | 'sent' | 'attention' | 'unfinished';

interface DayFacts {
  /** The account's. */
  readonly timezone: string;
  /** What became of the canary of the day. */
  readonly canary?: Finding | undefined;
}

interface RunFacts extends DayFacts {
  /** Where verdict e-mails are read; null for nowhere. Absent where nobody has to be told. */
  readonly mailbox?: string | null;
  /** Whether its day is good now: what it lacks needs nobody any more. */
  readonly isGoodNow?: boolean;
}

/** What a place says about a day. `missing`: it is over and has no run; `not-due`: no run is expected, or not yet. */
export type DayMark = Judgement | 'missing' | 'not-due';

const noVerdicts = 'Verdicts come by e-mail only, so none is known to be correct.';
const someVerdicts = 'Some verdicts come by e-mail only, so not all are known to be correct.';
const noRun = 'No run: nothing of this day was reviewed.';

/** A day without a run: only one that is over, and not before the first run, misses one. */
export function describeNoRun({
  isMissing,
  isOver,
  isReached,
}: Readonly<Record<'isMissing' | 'isOver' | 'isReached', boolean>>) {
  const say = (judgement: DayMark, headline: string) => ({ judgement, headline });
  if (isMissing) return say('missing', noRun);
  if (!isOver) return say('not-due', 'Its run is still to come.');
  if (!isReached) return say('not-due', 'No run: the reviews began later.');
  return say('not-due', 'No run, as on this weekday in the weeks before.');
}

const make =
  (level: Finding['level']) =>
  (code: FindingCode, words: string, advice: Advice = []): Finding => ({ code, level, words, advice });
const attention = make('attention');
const warning = make('warning');
const note = make('note');

/** Without those that do not apply. */
function keep(findings: readonly (Finding | false | 0 | null | undefined)[]): Finding[] {
  return findings.filter((finding): finding is Finding => Boolean(finding));
}

/**
 * How a day went, for each place that says it: the judgement, a headline, and what there is to say of it. `state` is what stands beside
 * these findings; absent where they say it already. Sent is not reviewed, and unknown never looks good.
 */
export function describeDay(outcome: DayOutcome, { timezone, canary }: DayFacts) {
  const { latest: run } = outcome;
  const findings = keep([...listFindings(outcome), ...(run ? listOddities(run, timezone) : []), canary]);
  return { ...concludeDay(outcome, findings), findings };
}

/** The same, but for wrong mappings that the run found: they are no fault of the run. What its bookings still need stands in their cases. */
export function describeRunOfDay(outcome: DayOutcome, facts: DayFacts) {
  return describeDay(outcome.affected ? { ...outcome, affected: 0 } : outcome, facts);
}

/** How a run went: as its day would have gone without the others, and what only concerns the run. */
export function describeRun(run: Run, facts: RunFacts) {
  const { state, findings, ...concluded } = describeDay(outcomeOfRun(run), facts);
  const { topsUp, reason, cancelReason } = run;
  const all = keep([
    topsUp && note('late', 'late bookings: only what earlier runs had not delivered'),
    reason !== undefined && note('reason', `reason: ${reason}`),
    cancelReason !== undefined && note('reason', `cancelled because: ${cancelReason}`),
    ...findings,
    ...listResultFindings(run),
    nameMailbox(run, facts),
    facts.isGoodNow && wasBad(run) && note('repaired', 'the day is good now'),
  ]);
  const settle = (finding: Finding) => (facts.isGoodNow ? settleFinding(finding) : finding);
  return { ...concluded, ...(state && { state: settle(state) }), findings: all.map(settle) };
}

const settledCodes: readonly FindingCode[] = ['state', 'incomplete', 'volume', 'implausible'];

/** Nobody has to do anything about it any more. */
function settleFinding(finding: Finding): Finding {
  return settledCodes.includes(finding.code) ? note(finding.code, finding.words) : finding;
}

function concludeDay(
  outcome: DayOutcome,
  findings: readonly Finding[],
): { readonly judgement: Judgement; readonly headline: string; readonly state?: Finding } {
  const { judgement, state } = judgeState(outcome);
  const asIs = { judgement, headline: state.words, state };
  if (judgement === 'attention') return asIs;
  const isUnfinished = judgement === 'unfinished';
  const problems = findings.filter(({ level }) => level === 'attention');
  const headline = `${problems.map(inHeadline).join('; ')}.`;
  // "All have the verdict correct" would not be true of a day with problems.
  if (problems.length > 0) return { judgement: 'attention', headline, ...(isUnfinished && { state }) };
  const incomplete = findings.find(({ code }) => code === 'incomplete');
  return incomplete ? { judgement: 'unfinished', headline: toSentence(incomplete.words) } : asIs;
}

/** A headline says what to do only where the day waits for somebody. */
function inHeadline(finding: Finding): string {
  return isDecision(finding) ? tellFinding(finding) : finding.words;
}

/** What its latest run has come to, whatever else there is to say of it. */
function judgeState(outcome: DayOutcome): { readonly judgement: Judgement; readonly state: Finding } {
  const { latest: run, day, knowledge, accepted } = outcome;
  const say = (judgement: Judgement, words: string, when?: string) => ({
    judgement,
    state: note('state', words, when === undefined ? [] : [[when, `run ${day}`]]),
  });
  if (!run) return say('attention', noRun);
  switch (run.state) {
    case 'failed':
      return say('attention', describeFailure(run.failure?.message), 'once the cause is fixed');
    case 'cancelled':
      return say('attention', 'The run was cancelled: the day is not reviewed.');
    case 'awaiting-result':
      return say('unfinished', 'Delivered; the result has not arrived yet.', 'to check for it again');
    case 'collecting':
    case 'delivering':
      return say('unfinished', `The run is ${run.state}.`, 'to resume it, unless a process is working on it');
    case 'succeeded': {
      if (knowledge === 'nothing-sent')
        return say(
          'sent',
          `${run.topsUp ? 'Nothing new since the run before' : 'The source had no bookings'}: nothing was sent.`,
        );
      if (!hasUnknownVerdicts(outcome))
        return say('good', `All ${formatCountOf(accepted, 'booking')} have the verdict correct.`);
      return say('sent', `Sent for review. ${knowledge === 'judged' ? someVerdicts : noVerdicts}`);
    }
  }
}

/** What a list of bookings says of a day whose verdicts are not known; undefined where a result says them. */
export function explainUnknown(outcome: DayOutcome): string | undefined {
  const { day, knowledge, run } = outcome;
  const about = `${day} (run ${run?.id}, ${run?.state})`;
  switch (knowledge) {
    case 'no-run':
      return `There is no run of ${day}.`;
    case 'nothing-sent':
      return explainNothingSent(outcome);
    case 'by-email':
      return `${about}: ${noVerdicts}`;
    case 'awaiting-result':
      return `${about}: the result has not arrived yet.`;
    case 'judged':
      return undefined;
  }
}

/** The same for a day of which the service took nothing; undefined for any other. */
export function explainNothingSent(outcome: DayOutcome): string | undefined {
  const { day, knowledge, latest: run, refused } = outcome;
  if (knowledge !== 'nothing-sent' || !run) return undefined;
  const why = refused > 0 ? `the service refused ${formatCountOf(refused, 'booking')}` : 'nothing was sent';
  const words = isEmptyDay(outcome) ? judgeState(outcome).state.words : `${why}: there is no verdict.`;
  return `${day} (run ${run.id}, ${run.state}): ${words}`;
}

/** Turns the message into a sentence: in logs it begins in lower case. */
function describeFailure(message: string | undefined): string {
  return message === undefined ? 'The run failed.' : `The run failed. ${toSentence(message)}`;
}

/** What became of its bookings. */
function listFindings(outcome: DayOutcome): Finding[] {
  const { day, affected, unanswered, refused, posted, suspects, knowledge, delivered } = outcome;
  const some = (bookings: number, words: string) => `${formatCountOf(bookings, 'booking')} ${words}`;
  const list = (line: string): Advice => [['to list them', line]];
  const goes = posted === 1 ? 'goes' : 'go';
  const go = knowledge === 'nothing-sent' ? 'would go' : delivered > 0 ? 'went' : goes;
  return keep([
    affected && attention('affected', some(affected, 'on an incorrect mapping'), list(`affected ${day}`)),
    knowledge === 'judged' &&
      unanswered &&
      attention('unanswered', some(unanswered, 'without a verdict'), list(`affected ${day} --unanswered`)),
    refused && attention('refused', some(refused, 'refused by the service'), list(`refused ${day}`)),
    posted &&
      note(
        'posted',
        some(posted, `${go} by body, where verdicts come by e-mail only`),
        list(`posted ${day}`),
      ),
    suspects && note('suspects', describeSuspects(suspects), list(`suspects ${day}`)),
  ]);
}

/** Bookings whose mapping the local copy doubts. */
export function describeSuspects(bookings: number): string {
  return `suspects: ${formatCountOf(bookings, 'booking')} whose mapping differs in the local copy, or changed recently`;
}

/** What is odd about what its latest run collected. */
function listOddities(run: Run, timezone: string): Finding[] {
  return keep([
    describeIncomplete(run, timezone),
    ...describeVolume(run, timezone),
    describeImplausibleRun(run, timezone),
    ...describeFilterWarnings(run.day, run.filters).map((words) => attention('filter', words)),
  ]);
}

/** Why a run that succeeded does not complete its day. Where it failed for it, its message says so. */
function describeIncomplete(run: Run, timezone: string): Finding | undefined {
  const { state, day, expected = 0, counts, clockLead } = run;
  if (state !== 'succeeded') return undefined;
  const say = (words: string, when?: string) =>
    note('incomplete', `the day is not complete: ${words}`, when ? [[when, `run ${day}`]] : []);
  if (hasUnexpectedCount(run)) {
    const held = formatCount(countRecords(counts));
    const words = `the end-of-day hook expected ${formatCountOf(expected, 'record')}, and the source held ${held}`;
    return say(words, 'once its export is complete');
  }
  if (!mayCompleteDay(run)) return say('it was collected before it was over');
  if (!endedTooEarly(run, timezone)) return undefined;
  const ahead =
    clockLead === undefined ? '' : ` (the clock of its machine was ${formatDuration(clockLead)} ahead)`;
  return say(`it was collected before it was over${ahead}`, 'to send what is missing');
}

/** A day that has too few bookings as a whole needs somebody; what a single provider lost is only told. */
function describeVolume(run: Run, timezone: string): Finding[] {
  const { volume, day } = run;
  if (!volume) return [];
  if (!isUnusual(volume) && volume.usual === null)
    return [note('uncompared', 'its number of bookings is not compared: no earlier day is known')];
  const accepted = describeAcceptance(run, 'volume', timezone);
  return describeDrops(volume).map((drop, index) => {
    const words = `${nameDrops(volume)} (${drop})`;
    if (accepted) return note('volume', `${words}, ${accepted}`);
    return index === 0 && hasDropped(volume)
      ? attention('volume', words, adviseOn('volume', day))
      : warning('volume', words);
  });
}

function describeImplausibleRun(run: Run, timezone: string): Finding | undefined {
  const { implausible, day } = run;
  if (!implausible) return undefined;
  const words = describeImplausible(implausible);
  const accepted = describeAcceptance(run, 'affected', timezone);
  return accepted
    ? note('implausible', `${words}, ${accepted}`)
    : attention('implausible', words, adviseOn('affected', day));
}

function describeAcceptance(run: Run, kind: AcceptanceKind, timezone: string): string | undefined {
  const acceptance = acceptanceOf(run, kind);
  return acceptance && `accepted by ${acceptance.by}, ${formatLocalInstant(acceptance.at, timezone)}`;
}

/** What is odd about its results. */
function listResultFindings({ file = {} }: Run): Finding[] {
  const { rows = 0, result, verdicts, setAside = [], laterResults = [] } = file;
  const { malformed = 0, ignored = 0 } = verdicts ?? {};
  const records = formatCount(listResultFiles(file).reduce((sum, one) => sum + one.rows, 0));
  return keep([
    result &&
      !result.isWhole &&
      warning(
        'result',
        `the result was accepted although incomplete: ${records} records for ${formatCount(rows)} sent`,
      ),
    ...setAside.map(({ name, archivedAs, foreign, ours }) =>
      warning(
        'result',
        `the result ${name} was set aside: ${formatCountOf(foreign, 'row')} about other bookings, ${formatCount(ours)} about ours; it is archived as ${archivedAs}, and its verdicts do not count`,
      ),
    ),
    malformed > 0 && warning('result', `${formatCountOf(malformed, 'result row')} could not be read`),
    ...laterResults.map((name) =>
      warning(
        'result',
        `after its result was judged, the server held another one, which is archived but not judged: ${name}`,
      ),
    ),
    // Some services end each result with totals: nobody has to look.
    ignored > 0 &&
      note('result', `ignored ${formatCountOf(ignored, 'result row')} about none of our bookings`),
  ]);
}

function nameMailbox(run: Run, { mailbox }: RunFacts): Finding | undefined {
  if (mailbox === undefined || (nameState(run) !== 'sent' && run.counts.posted === 0)) return undefined;
  return note(
    'mailbox',
    mailbox === null
      ? 'nobody reads these e-mails here: name their mailbox in the setting verdicts'
      : `\`serve\` reads these e-mails from ${mailbox}`,
  );
}
