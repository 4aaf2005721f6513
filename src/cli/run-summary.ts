import { runsCompared } from '../review/collect/delivered-lines.js';
import type { ReasonCount } from '../review/collected.js';
import type { RefusedBooking, RejectReader } from '../review/history.js';
import type { RunLister } from '../review/ledger.js';
import { isActive, type Run } from '../review/run.js';
import { readReference } from '../review/stored/stored-line.js';
import { describeDrops } from '../review/volume.js';
import { formatCount, formatDuration, formatInstant, wrapText } from '../text/format.js';
import type { WriteCommand } from '../text/shell.js';
import { renderFileSummary } from './file-summary.js';
import { renderSuspectSummary } from './suspects.js';
import { renderTable } from './tables.js';

type DetailsLedger = RejectReader & RunLister;

/** Reads what the summary of a run shows. */
export async function readRunDetails(
  ledger: DetailsLedger,
  run: Run,
  placeUnit: string,
): Promise<RunDetails> {
  const [rejects, warnings, refused, toppedUp] = await Promise.all([
    ledger.countRejects(run.id),
    ledger.countWarnings(run.id),
    ledger.listRefused(run.id, refusedShown),
    run.topsUp && findRunBefore(ledger, run),
  ]);
  return { run, toppedUp, rejects, warnings, refused, placeUnit };
}

async function findRunBefore(ledger: DetailsLedger, { id, day }: Run): Promise<string | undefined> {
  const runs = await ledger.listRuns({ day, limit: runsCompared });
  return runs[runs.findIndex((run) => run.id === id) + 1]?.id;
}

/** Refused bookings listed in a summary; the ledger has all. */
const refusedShown = 20;

export interface RunDetails {
  readonly run: Run;
  /** The run that this one tops up. */
  readonly toppedUp?: string | undefined;
  readonly rejects: readonly ReasonCount[];
  readonly warnings: readonly ReasonCount[];
  readonly refused: readonly RefusedBooking[];
  /** What `place` counts in the source, for example "line". */
  readonly placeUnit: string;
}

export interface ClosingOptions {
  readonly now: number;
  readonly command: WriteCommand;
  /** Another process may be working on the run. */
  readonly isOnlooker?: boolean;
}

/** The summary of a run: what happened to every record, why, and what to do next. */
export function renderClosing(
  { run, toppedUp, rejects, warnings, refused, placeUnit }: RunDetails,
  { now, command, isOnlooker = false }: ClosingOptions,
): string {
  const { counts } = run;
  const duration = formatDuration((run.finishedAt ?? now) - run.startedAt);
  const sections = [
    isOnlooker && isActive(run)
      ? `${run.day}: run ${run.id} is ${run.state}, started ${duration} ago`
      : `${run.day}: run ${run.id} ${describeState(run)} ${isActive(run) ? 'after' : 'in'} ${duration}${hasNoFile(run) ? ', without a review file' : ''}`,
    ...(hasNoFile(run)
      ? [`  no booking can be in the file: all ${formatCount(counts.posted)} go by body, without a result`]
      : []),
    ...explain(run, toppedUp),
    renderTable(
      Object.entries(counts)
        .filter(([name, count]) => count > 0 || name !== 'affected')
        .map(([name, count]) => [name, formatCount(count)]),
    ),
    ...renderFileSummary(run, command),
    ...renderSuspectSummary(run, command),
    ...renderVolume(run),
    ...renderReasons('rejected, by reason', rejects, placeUnit),
    ...renderReasons('warnings', warnings, placeUnit),
    ...renderRefused(refused, counts.refused),
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

/** Somebody who set up delivery by file expects a result, and by body there is none. */
function hasNoFile({ delivery, counts, collectedAt }: Run): boolean {
  const { accepted, posted } = counts;
  return delivery === 'file' && collectedAt !== undefined && posted > 0 && posted === accepted;
}

function explain({ state, failure, counts, topsUp, cancelReason }: Run, toppedUp = 'before'): string[] {
  const late = topsUp ? [`  late bookings: it tops up run ${toppedUp}`] : [];
  if (cancelReason !== undefined) return [...late, ...wrapText(`reason: ${cancelReason}`)];
  if (failure) return [...late, ...wrapText(failure.message)];
  if (state !== 'succeeded') return late;
  if (counts.read === 0) return [...late, '  The source has no bookings: nothing was sent.'];
  return topsUp && counts.accepted === 0 ? [`  Nothing new since run ${toppedUp}: nothing was sent.`] : late;
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
function renderVolume({ volume, failure }: Run): string[] {
  if (!volume || failure?.code === 'volume-dropped') return [];
  return ['far fewer bookings than usual:', ...describeDrops(volume).map((text) => `  ${text}`)];
}

function renderRefused(refused: readonly RefusedBooking[], total: number): string[] {
  if (refused.length === 0) return [];
  const rows = refused
    .slice(0, refusedShown)
    .map(({ line, form, code, step }) => [readReference(line, form) ?? '(no reference)', code, step]);
  const more = total > rows.length ? [`  … and ${formatCount(total - rows.length)} more`] : [];
  return ['refused by the service:', renderTable(rows), ...more];
}

function nextSteps(run: Run, command: WriteCommand, isOnlooker: boolean): string[] {
  if (run.state === 'awaiting-result') return [`To check for it again: ${command(`run --day ${run.day}`)}`];
  if (isActive(run))
    return [
      `To resume it${isOnlooker ? ', if no process is working on it' : ''}: ${command(`run --day ${run.day}`)}`,
    ];
  if (run.state === 'failed') {
    return [
      `Once the cause is fixed: ${command(`run --day ${run.day}`)}`,
      '(what was delivered is not sent again)',
    ];
  }
  if (run.counts.refused > 0) {
    return [`To see what the service said about one: ${command('show REFERENCE --answers')}`];
  }
  return [];
}

/** One line per run, for `status` without a day, within 80 columns. */
export function renderStatus(runs: readonly Run[], command: WriteCommand): string {
  if (runs.length === 0) return `No runs yet. The first one: ${command('run')}\n`;
  const rows = runs.map((run) => [
    run.day,
    `${run.state}${run.topsUp ? ' +' : ''}`,
    formatCount(run.counts.delivered),
    formatCount(run.counts.pending),
    formatCount(run.counts.refused),
    formatCount(run.counts.rejected),
    formatInstant(run.startedAt),
  ]);
  const head = ['day', 'state', 'delivered', 'pending', 'refused', 'rejected', 'started'];
  const late = runs.some(({ topsUp }) => topsUp)
    ? `  + late bookings: only what earlier runs had not delivered\n`
    : '';
  return `${renderTable(rows, head)}\n${late}`;
}
