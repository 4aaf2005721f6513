import {
  describePlan,
  isToReview,
  type PlannedDay,
  type RangeMode,
  toPlanObjects,
} from '../review/day/range-plan.js';
import { describeWaiting, type RunReport } from '../review/day/report.js';
import type { DeliveryKind } from '../review/run.js';
import { formatCount, formatCountOf, wrapText } from '../text/format.js';
import { quoteForShell, type WriteCommand } from '../text/shell.js';
import { renderTable } from '../text/tables.js';
import { type ExitCode, exitCode } from './exit-code.js';
import type { CommandFailure } from './failure.js';

/** The outcome of one day of a range. */
export type DayOutcome =
  | {
      readonly kind: 'reviewed';
      readonly day: string;
      readonly report: RunReport;
      readonly exitCode: ExitCode;
    }
  /** Left out by the mode of the replay. */
  | { readonly kind: 'left'; readonly day: string; readonly why: string; readonly runId?: string }
  | { readonly kind: 'error'; readonly day: string; readonly failure: CommandFailure };

export function exitCodeOfDay(outcome: DayOutcome): ExitCode {
  switch (outcome.kind) {
    case 'reviewed':
      return outcome.exitCode;
    case 'left':
      return exitCode.done;
    case 'error':
      return outcome.failure.exitCode;
  }
}

/** Whether every other day would fail the same way: a wrong API key, a wrong host key, an unusable ledger. */
export function endsRange(outcome: DayOutcome): boolean {
  switch (outcome.kind) {
    case 'reviewed':
      return outcome.report.error?.class === 'fatal';
    case 'left':
      return false;
    case 'error':
      return outcome.failure.class !== 'usage' && outcome.failure.class !== 'busy';
  }
}

/** The object that `--json` prints for a day. */
export function toDayObject(outcome: DayOutcome): object {
  switch (outcome.kind) {
    case 'reviewed':
      return outcome.report;
    case 'left': {
      const { day, why, runId = null } = outcome;
      return { day, runId, skipped: why };
    }
    case 'error': {
      const { day, failure } = outcome;
      return { day, error: { class: failure.class, message: failure.message } };
    }
  }
}

/** How a day ended, in a few words. */
export function describeOutcome(outcome: DayOutcome): string {
  switch (outcome.kind) {
    case 'reviewed': {
      const { state, counts, topsUp } = outcome.report;
      if (topsUp && state === 'succeeded' && counts.accepted === 0) return 'succeeded, nothing new';
      return `${describeState(outcome)}, ${formatCount(counts.delivered)} delivered`;
    }
    case 'left':
      return `left as it is: it ${outcome.why}`;
    case 'error':
      return outcome.failure.message;
  }
}

/** The table at the end of a range, and what to do about each day that is not done. */
export function renderRangeSummary(outcomes: readonly DayOutcome[], command: WriteCommand): string {
  const head = ['day', 'run', 'state', 'delivered', 'pending', 'refused'];
  const sections = [
    renderTable(outcomes.map(toRow), head),
    ...(outcomes.some((outcome) => outcome.kind === 'reviewed' && outcome.report.topsUp)
      ? ['  + late bookings: only what earlier runs had not delivered']
      : []),
    ...outcomes.flatMap((outcome) => explain(outcome, command)),
  ];
  return `${sections.join('\n')}\n`;
}

function toRow(outcome: DayOutcome): (string | undefined)[] {
  switch (outcome.kind) {
    case 'reviewed': {
      const { day, runId, counts, topsUp } = outcome.report;
      const state = `${describeState(outcome)}${topsUp ? ' +' : ''}`;
      return [day, runId, state, ...[counts.delivered, counts.pending, counts.refused].map(formatCount)];
    }
    case 'left':
      return [outcome.day, outcome.runId, outcome.why];
    case 'error':
      return [outcome.day, undefined, outcome.failure.class === 'busy' ? 'busy' : 'error'];
  }
}

function describeState({ report: { state }, exitCode: code }: DayOutcome & { kind: 'reviewed' }): string {
  const isActive = state === 'collecting' || state === 'delivering';
  return isActive && code !== exitCode.done ? 'stopped' : state;
}

function explain(outcome: DayOutcome, command: WriteCommand): string[] {
  if (outcome.kind === 'left' || exitCodeOfDay(outcome) === exitCode.done) return [];
  const { day } = outcome;
  if (outcome.kind === 'error') return [`${day}:`, ...wrapText(outcome.failure.message)];
  const { error, state, waiting } = outcome.report;
  const next = command(`run --day ${day}`);
  if (error) return [`${day}:`, ...wrapText(error.message), `  Once that is fixed: ${next}`];
  if (exitCodeOfDay(outcome) === exitCode.toBeAccepted)
    return [
      `${day}: far fewer bookings than usual: check the export`,
      `  Once it is complete: ${command(`replay ${day} --late`)}`,
      `  If it is right: ${command(`run ${day} --accept-volume`)}`,
    ];
  const what = state === 'awaiting-result' ? 'To check for its result' : 'To resume it';
  return [`${day}:`, ...(waiting ? [`  ${describeWaiting(waiting)}`] : []), `  ${what}: ${next}`];
}

/** A range that ended before its last day, with the options it was started with. */
export interface EndedRange {
  readonly mode?: RangeMode | undefined;
  readonly reason?: string;
  readonly delivery?: DeliveryKind;
  /** Why no further day was started: "it was stopped". */
  readonly why: string;
  /** The first day that was not started. */
  readonly next: string;
  readonly to: string;
}

/** Which days of a range were not started, why, and how to continue. */
export function renderNotStarted(range: EndedRange, command: WriteCommand): string {
  const { next, to, why } = range;
  const days = next === to ? next : `${next} to ${to}`;
  return [`Not started: ${days}, because ${why}.`, `To continue: ${command(writeReplay(range))}`, ''].join(
    '\n',
  );
}

/** The command for the remaining days, with the options of this one. */
function writeReplay({ next, to, mode, reason, delivery }: EndedRange): string {
  return [
    `replay ${next}`,
    ...(next === to ? [] : [`--to ${to}`]),
    ...(mode === undefined ? [] : [`--${mode}`]),
    ...(reason === undefined ? [] : [`--reason ${quoteForShell(reason)}`]),
    ...(delivery === undefined ? [] : [`--delivery ${delivery}`]),
  ].join(' ');
}

/** The object that `--dry-run --json` prints for a range. */
export function toPlanObject(days: readonly PlannedDay[]): object {
  return { dryRun: true, days: toPlanObjects(days) };
}

/** One line per day: what would be done; below, why days would be refused. */
export function renderRangePlan(days: readonly PlannedDay[]): string {
  const begun = days.filter(isToReview);
  return [
    `dry run: ${formatCountOf(begun.length, 'day')} of ${days.length} would be reviewed; nothing was sent`,
    renderTable(days.map(({ day, plan }) => [day, describePlan(plan)])),
    ...days.flatMap(({ day, plan }) =>
      plan.action === 'refused' ? [`${day}:`, ...wrapText(plan.message)] : [],
    ),
    '',
  ].join('\n');
}
