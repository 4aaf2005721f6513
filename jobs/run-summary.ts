import { noColours, type Paint } from '../src/base/colours.js';
import { formatCount, formatDuration, wrapText } from '../src/base/format.js';
import type { WriteCommand } from '../src/base/shell.js';
import { renderTable } from '../src/base/tables.js';
import { canaryToJson } from '../src/ledger/canaries.js';
import type { ReadOnlyLedger } from '../src/ledger/ledger.js';
import type { ReasonCount } from '../src/ledger/rejects.js';
import { describeCanary } from '../src/review/canary.js';
import { describeWaiting, readWaiting } from '../src/review/day/report.js';
import { describeRun } from '../src/rules/describe-day.js';
import { adviseInLines, renderNotes } from '../src/rules/finding.js';
import { listResultFiles, type Sighting } from '../src/rules/review-file.js';
import { durationOf, isActive, type Run } from '../src/rules/run.js';
import { formatKnown, listCounts, paintState } from '../src/rules/run-verdicts.js';

/** What the ledger knows of a run besides itself, as `run --json` and `status --json` have it. */
export async function readRunDetails(ledger: ReadOnlyLedger, run: Run, now: number) {
  const [rejects, warnings, canary, waiting] = await Promise.all([
    ledger.rejects.count(run.id),
    ledger.rejects.countWarnings(run.id),
    ledger.canaries.find(run.id),
    readWaiting(ledger, run, now),
  ]);
  return { rejects, warnings, ...waiting, ...(canary && { canary: canaryToJson(canary, now) }) };
}

export type RunDetails = Awaited<ReturnType<typeof readRunDetails>>;

export interface ClosingOptions {
  readonly now: number;
  /** The account's. */
  readonly timezone: string;
  readonly command: WriteCommand;
  /** What `place` counts in the source, for example "line". */
  readonly placeUnit: string;
  readonly paint?: Paint;
  /** Another process may be working on the run. */
  readonly isOnlooker?: boolean;
  /** The day is good by now. */
  readonly isGoodNow?: boolean;
  /** Where verdict e-mails are read; null for nowhere. */
  readonly mailbox: string | null;
}

/** The summary of a run: what happened to every record, why, and what to do next. */
export function renderClosing(
  run: Run,
  { rejects, warnings, canary, waiting }: RunDetails,
  options: ClosingOptions,
): string {
  const { timezone, command, placeUnit } = options;
  const { judgement, state, findings } = describeRun(run, {
    ...options,
    canary: canary && describeCanary(canary, timezone),
  });
  return [
    `${run.day}: run ${run.id} ${describeState(run, judgement === 'good', options)}`,
    // Of an active run, the line above says it.
    ...(state && !isActive(run) ? wrapText(state.words) : []),
    ...(waiting ? [`  ${describeWaiting(waiting)}`] : []),
    renderTable(listCounts(run, run.suspects).map(({ name, count }) => [name, formatKnown(count)])),
    ...renderFile(run),
    ...renderNotes(
      // The message of a run that failed for it says it already.
      findings.filter(({ code }) => code !== 'volume' || run.failure?.code !== 'volume-dropped'),
      command,
    ),
    ...renderReasons('rejected, by reason', rejects, placeUnit),
    ...(rejects.length > 0 ? [`    To list them: ${command(`rejected ${run.day}`)}`] : []),
    ...renderReasons('warnings', warnings, placeUnit),
    ...adviseInLines(state?.advice ?? [], command),
    '',
  ].join('\n');
}

/** What somebody should look at, even after a night that was good. What is affected, its cases say. */
export function renderWarnings(run: Run, { timezone, command }: ClosingOptions): string[] {
  const { findings } = describeRun(run, { timezone });
  return renderNotes(
    findings.filter(({ code, level }) => level !== 'note' && code !== 'affected'),
    command,
  );
}

function describeState(
  run: Run,
  isGood: boolean,
  { now, paint = noColours, isOnlooker }: ClosingOptions,
): string {
  const { state, failure } = run;
  const show = (text: string) => paintState(paint, run, isGood, text);
  if (isOnlooker && isActive(run))
    return `is ${show(state)}, started ${formatDuration(now - run.startedAt)} ago`;
  const duration = formatDuration(durationOf(run, now));
  if (state === 'awaiting-result') return `${show('awaits its result')} after ${duration}`;
  if (isActive(run)) return `${show(`was stopped while ${state}`)} after ${duration}`;
  const words = { failed: `failed (${failure?.class})`, cancelled: 'was cancelled' }[state as string];
  return `${show(words ?? state)} in ${duration}`;
}

/** The files of a run by file. */
function renderFile({ file }: Run): string[] {
  if (file?.rows === undefined) return [];
  const judged = listResultFiles(file);
  const names = (files: readonly Sighting[]) => files.map(({ name }) => name).join(', ');
  const growing = file.growing ? `${names(file.growing.files)}, not accepted yet` : 'not there yet';
  return [
    renderTable([
      ['file', file.remotePath ?? 'not uploaded yet'],
      ['rows', formatCount(file.rows)],
      ['result', judged.length > 0 ? names(judged) : growing],
      ['archived to', file.archivedTo ?? 'not yet'],
    ]),
  ];
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
