import type { Canary, CanaryFinder } from '../review/canary.js';
import { runsCompared } from '../review/collect/delivered-lines.js';
import type { ReasonCount } from '../review/collected.js';
import { endedTooEarly } from '../review/day/good-day.js';
import { describeWaiting, type WaitingReport } from '../review/day/report.js';
import type { RejectReader } from '../review/history.js';
import type { RunLister } from '../review/ledger.js';
import { countRecords, hasUnexpectedCount, isActive, isToBeAccepted, type Run } from '../review/run.js';
import {
  countAffected,
  mayHaveResult,
  nameState,
  paintState,
  type Unknown,
} from '../review/verdicts/day-verdicts.js';
import { describeDrops } from '../review/volume.js';
import { noColours, type Paint } from '../text/colours.js';
import {
  formatCount,
  formatCountOf,
  formatDuration,
  formatInstant,
  formatLocalInstant,
  wrapText,
} from '../text/format.js';
import type { WriteCommand } from '../text/shell.js';
import { renderTable } from '../text/tables.js';
import { renderCanary } from './canary.js';
import { describeMailPlace, renderFileSummary } from './file-summary.js';
import { renderSuspectSummary } from './suspects.js';

type DetailsLedger = Pick<RejectReader, 'countRejects' | 'countWarnings'> & RunLister & CanaryFinder;

/** Reads what the summary of a run shows. */
export async function readRunDetails(
  ledger: DetailsLedger,
  run: Run,
  placeUnit: string,
): Promise<RunDetails> {
  const [rejects, warnings, canary, toppedUp] = await Promise.all([
    ledger.countRejects(run.id),
    ledger.countWarnings(run.id),
    ledger.findCanary(run.id),
    run.topsUp && findRunBefore(ledger, run),
  ]);
  return { run, toppedUp, rejects, warnings, canary, placeUnit };
}

async function findRunBefore(ledger: DetailsLedger, { id, day }: Run): Promise<string | undefined> {
  const runs = await ledger.listRuns({ day, limit: runsCompared });
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
  readonly paint?: Paint;
  /** The account's. With it, a run that succeeded before its day was over says so. */
  readonly timezone?: string;
  /** Where verdict e-mails are read; undefined for nowhere. */
  readonly mailPlace?: string | undefined;
}

export const earlyNote = 'collected before the day was over';

/** The summary of a run: what happened to every record, why, and what to do next. */
export function renderClosing(
  { run, toppedUp, rejects, warnings, canary, placeUnit, waiting }: RunDetails,
  { now, command, isOnlooker = false, paint = noColours, timezone, mailPlace }: ClosingOptions,
): string {
  const duration = formatDuration((run.finishedAt ?? now) - run.startedAt);
  const sections = [
    isOnlooker && isActive(run)
      ? `${run.day}: run ${run.id} is ${paintState(paint, run, run.state)}, started ${duration} ago`
      : `${run.day}: run ${run.id} ${paintState(paint, run, describeState(run))} ${isActive(run) ? 'after' : 'in'} ${duration}${hasNoFile(run) ? ', without a review file' : ''}`,
    ...(hasNoFile(run)
      ? [
          `  no booking can be in the file: all ${formatCount(run.counts.posted)} go by body, without a result`,
        ]
      : []),
    ...explain(run, mailPlace, toppedUp),
    ...(timezone !== undefined && endedTooEarly(run, timezone)
      ? [`  It was ${earlyNote}: the next run sends what is missing.`]
      : []),
    ...(waiting ? [`  ${describeWaiting(waiting)}`] : []),
    renderTable(listCounts(run)),
    ...renderFileSummary(run, command, mailPlace),
    ...(canary ? renderCanary(canary, { now, command, timezone }) : []),
    ...renderSuspectSummary(run, command),
    ...renderVolume(run, timezone),
    ...renderUnexpected(run),
    ...renderReasons('rejected, by reason', rejects, placeUnit),
    ...(rejects.length > 0 ? [`  list them with: ${command(`rejected ${run.day}`)}`] : []),
    ...renderReasons('warnings', warnings, placeUnit),
    ...renderRefused(run, command),
    ...nextSteps(run, command, isOnlooker),
  ];
  return `${sections.join('\n')}\n`;
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

function explain(run: Run, mailPlace: string | undefined, toppedUp = 'before'): string[] {
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
      ...describeMailPlace(mailPlace),
    );
  return known;
}

/** Shown only where they are not 0. */
const rareCounts: readonly string[] = ['filtered', 'posted', 'unanswered', 'affected'];

function listCounts(run: Run): [string, string][] {
  const { affected, ...others } = run.counts;
  const rows = Object.entries(others).map(([name, count]) => [name, count ?? 0] as const);
  const known = affected ?? (run.counts.delivered > 0 ? countAffected(run) : 0);
  return [...rows, ['affected', known] as const]
    .filter(([name, count]) => count !== 0 || !rareCounts.includes(name))
    .map(([name, count]) => [name, formatKnown(count)]);
}

export function formatKnown(count: number | Unknown): string {
  return typeof count === 'number' ? formatCount(count) : count;
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
function renderVolume({ volume, failure, acceptance }: Run, timezone?: string): string[] {
  if (!volume || failure?.code === 'volume-dropped') return [];
  if (volume.drops.length === 0)
    return volume.usual === null ? ['its number of bookings is not compared: no earlier day is known'] : [];
  const at =
    acceptance && (timezone ? formatLocalInstant(acceptance.at, timezone) : formatInstant(acceptance.at));
  return [
    'far fewer bookings than usual:',
    ...describeDrops(volume).map((text) => `  ${text}`),
    ...(acceptance ? [`  accepted by ${acceptance.by}, ${at}`] : []),
  ];
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
      'The day is not good until somebody has looked. Check the export.',
      `Once it is complete, to send what was missing: ${command(`replay ${run.day} --late`)}`,
      `If it is right: ${command(`run ${run.day} --accept-volume`)}`,
    ];
  return [];
}
