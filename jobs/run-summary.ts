import { noColours, type Paint } from '../src/base/colours.js';
import {
  formatCount,
  formatCountOf,
  formatDuration,
  formatInstant,
  formatLocalInstant,
  wrapText,
} from '../src/base/format.js';
import type { WriteCommand } from '../src/base/shell.js';
import { renderTable } from '../src/base/tables.js';
import type { ReadOnlyLedger } from '../src/ledger/ledger.js';
import type { ReasonCount } from '../src/ledger/rejects.js';
import { renderCanary } from '../src/review/canary.js';
import { runsCompared } from '../src/review/collect/delivered-lines.js';
import { describeSetAside, describeWaiting, type WaitingReport } from '../src/review/day/report.js';
import { explainSuspects } from '../src/review/suspects/listing.js';
import { adviseInLines, describeImplausible } from '../src/rules/acceptance-words.js';
import type { Canary } from '../src/rules/canary.js';
import { describeEarly, endedTooEarly, repairedNote } from '../src/rules/good-day.js';
import { listResultFiles, type ResultCounts, type Sighting } from '../src/rules/review-file.js';
import {
  type AcceptanceKind,
  acceptanceKinds,
  acceptanceOf,
  countRecords,
  durationOf,
  hasUnexpectedCount,
  isActive,
  isToBeAccepted,
  isUnusual,
  mayHaveResult,
  type Run,
  warnsOfVolume,
} from '../src/rules/run.js';
import {
  countAffected,
  describeByBody,
  formatKnown,
  nameState,
  paintState,
} from '../src/rules/run-verdicts.js';
import { describeDrops, nameDrops } from '../src/rules/volume.js';
import { describeFilterWarnings } from '../src/rules/where-report.js';

/** Reads what the summary of a run shows. */
export async function readRunDetails(
  ledger: ReadOnlyLedger,
  run: Run,
  placeUnit: string,
): Promise<RunDetails> {
  const [rejects, warnings, canary, toppedUp] = await Promise.all([
    ledger.rejects.count(run.id),
    ledger.rejects.countWarnings(run.id),
    ledger.canaries.find(run.id),
    run.topsUp && findRunBefore(ledger, run),
  ]);
  return { run, toppedUp, rejects, warnings, canary, placeUnit };
}

async function findRunBefore(ledger: ReadOnlyLedger, { id, day }: Run): Promise<string | undefined> {
  const runs = await ledger.runs.list({ day, limit: runsCompared });
  return runs[runs.findIndex((run) => run.id === id) + 1]?.id;
}

export interface RunDetails {
  readonly run: Run;
  /** The run that this one tops up. */
  readonly toppedUp?: string | undefined;
  readonly rejects: readonly ReasonCount[];
  readonly warnings: readonly ReasonCount[];
  readonly canary?: Canary | undefined;
  /** What `place` counts in the source, for example "line". */
  readonly placeUnit: string;
  /** What the run waits for. */
  readonly waiting?: WaitingReport;
}

export interface ClosingOptions {
  readonly now: number;
  readonly command: WriteCommand;
  /** Another process may be working on the run. */
  readonly isOnlooker?: boolean;
  /** The day has become good since. */
  readonly isRepaired?: boolean;
  readonly paint?: Paint;
  /** The account's. With it, a run that succeeded before its day was over says so. */
  readonly timezone?: string;
  /** Where verdict e-mails are read; undefined for nowhere. */
  readonly mailbox?: string | undefined;
}

/** The summary of a run: what happened to every record, why, and what to do next. */
export function renderClosing(
  { run, toppedUp, rejects, warnings, canary, placeUnit, waiting }: RunDetails,
  {
    now,
    command,
    isOnlooker = false,
    isRepaired = false,
    paint = noColours,
    timezone,
    mailbox,
  }: ClosingOptions,
): string {
  const duration = formatDuration(durationOf(run, now));
  const sections = [
    isOnlooker && isActive(run)
      ? `${run.day}: run ${run.id} is ${paintState(paint, run, run.state)}, started ${formatDuration(now - run.startedAt)} ago`
      : `${run.day}: run ${run.id} ${paintState(paint, run, describeState(run))} ${isActive(run) ? 'after' : 'in'} ${duration}${hasNoFile(run) ? ', without a review file' : ''}`,
    ...(hasNoFile(run)
      ? [
          `  no booking can be in the file: all ${formatCount(run.counts.posted)} ${describeByBody(run)}, without a result`,
        ]
      : []),
    ...explain(run, mailbox, toppedUp),
    ...(timezone !== undefined && endedTooEarly(run, timezone)
      ? wrapText(`It was ${describeEarly(run)}. The next run sends what is missing.`)
      : []),
    ...(waiting ? [`  ${describeWaiting(waiting)}`] : []),
    renderTable(listCounts(run)),
    ...renderFile(run, command, mailbox),
    ...(canary ? renderCanary(canary, { now, command, timezone }) : []),
    ...renderSuspectSummary(run, command),
    ...renderVolume(run, timezone),
    ...renderImplausible(run, timezone),
    ...renderFilterWarnings(run),
    ...renderUnexpected(run),
    ...renderReasons('rejected, by reason', rejects, placeUnit),
    ...(rejects.length > 0 ? [`  list them with: ${command(`rejected ${run.day}`)}`] : []),
    ...renderReasons('warnings', warnings, placeUnit),
    ...renderRefused(run, command),
    ...(isRepaired ? [`${run.day} is ${repairedNote}.`] : nextSteps(run, command, isOnlooker)),
  ];
  return `${sections.join('\n')}\n`;
}

/** What somebody should look at, even after a night that was good. */
export function renderWarnings(run: Run, { command, timezone }: ClosingOptions): string[] {
  return [
    ...(run.file ? describeOddities(run.file) : []),
    ...(warnsOfVolume(run) ? renderVolume(run, timezone) : []),
    ...renderFilterWarnings(run),
    ...renderRefused(run, command),
  ];
}

function renderFilterWarnings(run: Run): string[] {
  return describeFilterWarnings(run).flatMap((text) => wrapText(`warning: ${text}`));
}

function describeState({ state, failure }: Run): string {
  switch (state) {
    case 'succeeded':
      return 'succeeded';
    case 'failed':
      return `failed (${failure?.class})`;
    case 'cancelled':
      return 'was cancelled';
    case 'collecting':
    case 'delivering':
      return `was stopped while ${state}`;
    case 'awaiting-result':
      return 'awaits its result';
  }
}

/** Someone who set up delivery by file expects a result; a run whose bookings all went by body has none. */
function hasNoFile(run: Run): boolean {
  return run.delivery === 'file' && run.collectedAt !== undefined && !mayHaveResult(run);
}

function explain(run: Run, mailbox: string | undefined, toppedUp = 'before'): string[] {
  const { state, failure, counts, topsUp, reason, cancelReason, trigger } = run;
  const known = [
    ...(topsUp ? [`  ${trigger === 'today' ? 'new' : 'late'} bookings: it tops up run ${toppedUp}`] : []),
    ...(reason === undefined ? [] : wrapText(`reason: ${reason}`)),
  ];
  if (cancelReason !== undefined) return [...known, ...wrapText(`cancelled because: ${cancelReason}`)];
  if (failure) return [...known, ...wrapText(failure.message)];
  if (state !== 'succeeded') return known;
  if (counts.read === 0) return [...known, '  The source has no bookings: nothing was sent.'];
  if (topsUp && counts.accepted === 0) return [`  Nothing new since run ${toppedUp}: nothing was sent.`];
  if (nameState(run) === 'sent')
    known.push(
      '  Sent for review. The service reports incorrect mappings by e-mail only.',
      ...describeMailbox(mailbox),
    );
  return known;
}

/**
 * The files of a run by file, and what is odd about its result.
 *
 * @param mailbox see `describeMailbox`
 */
export function renderFile(run: Run, command: WriteCommand, mailbox?: string): string[] {
  const { file, day } = run;
  if (file?.rows === undefined) return [];
  const rows = [
    ['file', file.remotePath ?? 'not uploaded yet'],
    ['rows', formatCount(file.rows)],
    ['result', nameResult(file)],
    ['archived to', file.archivedTo ?? 'not yet'],
  ];
  return [
    renderTable(rows),
    ...describePosted(run, command(`posted ${day}`), mailbox),
    ...describeOddities(file),
    ...describeIgnored(file),
    ...describeUnanswered(file, day, command),
    ...describeAffected(file, day, command),
  ];
}

/** Why the file has fewer rows than bookings were delivered. */
function describePosted(run: Run, list: string, mailbox: string | undefined): string[] {
  const { posted } = run.counts;
  if (posted === 0) return [];
  return [
    ...wrapText(
      `${formatCountOf(posted, 'more booking')} ${describeByBody(run)}, because the file's rules leave no room for a missing ` +
        `field or a value that reads as null; those verdicts come by e-mail only.`,
    ),
    `  to list them: ${list}`,
    ...describeMailbox(mailbox),
  ];
}

/** @param mailbox where verdict e-mails are read; undefined for nowhere */
function describeMailbox(mailbox: string | undefined): string[] {
  return wrapText(
    mailbox === undefined
      ? 'Nobody reads these e-mails here: name their mailbox in the setting verdicts.'
      : `\`serve\` reads these e-mails from ${mailbox}.`,
  );
}

function describeUnanswered(
  { verdicts }: NonNullable<Run['file']>,
  day: string,
  command: WriteCommand,
): string[] {
  if (!verdicts || verdicts.unanswered + verdicts.unclear === 0) return [];
  return ['  to list the bookings without a verdict:', `  ${command(`affected ${day} --unanswered`)}`];
}

function nameResult(file: NonNullable<Run['file']>): string {
  const judged = listResultFiles(file);
  if (judged.length > 0) return nameFiles(judged);
  return file.growing ? `${nameFiles(file.growing.files)}, not accepted yet` : 'not there yet';
}

const nameFiles = (files: readonly Sighting[]) => files.map(({ name }) => name).join(', ');

function describeOddities(file: NonNullable<Run['file']>): string[] {
  const { rows, result, verdicts, setAside = [], laterResults = [] } = file;
  const records = listResultFiles(file).reduce((sum, one) => sum + one.rows, 0);
  const oddities: (string | false | undefined)[] = [
    result &&
      !result.isWhole &&
      `the result was accepted although incomplete: ${formatCount(records)} records for ${formatCount(rows ?? 0)} sent`,
    verdicts &&
      verdicts.unanswered > 0 &&
      `bookings missing from the result: ${formatCount(verdicts.unanswered)}`,
    verdicts &&
      verdicts.unclear > 0 &&
      `bookings that the result names without a readable verdict: ${formatCount(verdicts.unclear)}`,
    ...setAside.map(describeSetAside),
    verdicts && verdicts.malformed > 0 && `unreadable result rows: ${formatCount(verdicts.malformed)}`,
    laterResults.length > 0 &&
      `after its result was judged, the server held another one, which is archived but was not judged: ${laterResults.join(', ')}`,
  ];
  return oddities
    .filter((oddity) => typeof oddity === 'string')
    .flatMap((oddity) => wrapText(`warning: ${oddity}`));
}

/** Some services end each result with totals: nobody has to look. */
function describeIgnored({ verdicts }: NonNullable<Run['file']>): string[] {
  const { ignored = 0 } = verdicts ?? {};
  if (ignored === 0) return [];
  return wrapText(
    `warning: result rows that name no booking of the file, such as totals: ${formatCount(ignored)}; they are ignored`,
  );
}

function describeAffected(
  { verdicts }: NonNullable<Run['file']>,
  day: string,
  command: WriteCommand,
): string[] {
  if (!verdicts) return [];
  if (verdicts.affected > 0)
    return [
      `  affected bookings: ${formatCount(verdicts.affected)}; to list them:`,
      `  ${command(`affected ${day}`)}`,
    ];
  return isClear(verdicts) ? ['  The result marks no booking as affected.'] : [];
}

/** A booking without a verdict does not count as correctly mapped. */
function isClear({ unanswered, unclear, malformed }: ResultCounts): boolean {
  return unanswered === 0 && unclear === 0 && malformed === 0;
}

/** Shown only where they are not 0. */
const rareCounts: readonly string[] = ['filtered', 'carried', 'posted', 'unanswered', 'affected'];

function listCounts(run: Run): [string, string][] {
  const { affected, ...others } = run.counts;
  const rows = Object.entries(others).map(([name, count]) => [name, count ?? 0] as const);
  const known = affected ?? (run.counts.delivered > 0 ? countAffected(run) : 0);
  return [...rows, ['affected', known] as const]
    .filter(([name, count]) => count !== 0 || !rareCounts.includes(name))
    .map(([name, count]) => [name, formatKnown(count)]);
}

export function renderReasons(title: string, reasons: readonly ReasonCount[], placeUnit: string): string[] {
  if (reasons.length === 0) return [];
  const rows = reasons.map(({ reason, count, firstPlace }) => [
    reason,
    formatCount(count),
    firstPlace === undefined ? '' : `first at ${placeUnit} ${formatCount(firstPlace)}`,
  ]);
  return [`${title}:`, renderTable(rows)];
}

/** The message of a run that failed for it says it already. */
function renderVolume(run: Run, timezone?: string): string[] {
  const { volume, failure } = run;
  if (!volume || failure?.code === 'volume-dropped') return [];
  if (!isUnusual(volume))
    return volume.usual === null ? ['its number of bookings is not compared: no earlier day is known'] : [];
  return [
    `${nameDrops(volume)}:`,
    ...describeDrops(volume).map((text) => `  ${text}`),
    ...renderAcceptance(run, 'volume', timezone),
  ];
}

function renderImplausible(run: Run, timezone?: string): string[] {
  if (!run.implausible) return [];
  return [`${describeImplausible(run.implausible)}`, ...renderAcceptance(run, 'affected', timezone)];
}

function renderAcceptance(run: Run, kind: AcceptanceKind, timezone?: string): string[] {
  const acceptance = acceptanceOf(run, kind);
  if (!acceptance) return [];
  const { at, by } = acceptance;
  return [`  accepted by ${by}, ${timezone ? formatLocalInstant(at, timezone) : formatInstant(at)}`];
}

/** The message of a run that failed for it says it already. */
function renderUnexpected(run: Run): string[] {
  if (run.state === 'failed' || !hasUnexpectedCount(run)) return [];
  return wrapText(
    `the end-of-day hook expected ${formatCount(run.expected ?? 0)} records, and the source held ${formatCount(countRecords(run.counts))}: ` +
      'once its export is complete, run the day again',
  );
}

function renderRefused({ day, counts: { refused } }: Run, command: WriteCommand): string[] {
  if (refused === 0) return [];
  return [
    `refused by the service: ${formatCountOf(refused, 'booking')}`,
    `  list them with: ${command(`refused ${day}`)}`,
  ];
}

function nextSteps(run: Run, command: WriteCommand, isOnlooker: boolean): string[] {
  const resume = command(`run --day ${run.day}`);
  if (run.state === 'awaiting-result') return [`To check for it again: ${command(`run --day ${run.day}`)}`];
  if (isActive(run))
    return [`To resume it${isOnlooker ? ', if no process is working on it' : ''}: ${resume}`];
  if (run.state === 'failed') {
    return [`Once the cause is fixed: ${resume}`, '(what was delivered is not sent again)'];
  }
  if (run.state === 'succeeded' && hasUnexpectedCount(run))
    return [`To send what is missing: ${command(`run --day ${run.day}`)}`];
  if (run.state === 'succeeded' && isToBeAccepted(run))
    return [
      'The day is not good until somebody has looked.',
      ...acceptanceKinds
        .filter((kind) => isToBeAccepted(run, [kind]))
        .flatMap((kind) => adviseInLines(kind, run.day, command)),
    ];
  return [];
}

/** Empty if there are none. */
function renderSuspectSummary({ day, suspects }: Run, command: WriteCommand): string[] {
  if (!suspects) return [];
  return [
    'what the local copy of the mappings says:',
    explainSuspects(suspects),
    `  all of them: ${command(`suspects ${day}`)}`,
  ];
}
