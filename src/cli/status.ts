import { earlyNote, endedTooEarly, makesDayGood } from '../review/day/good-day.js';
import { describeSetAside, describeWaiting, type WaitingReport, type Waits } from '../review/day/report.js';
import { mayCompleteDay } from '../review/day-runs.js';
import { countRecords, hasUnexpectedCount, isToBeAccepted, type Run, warnsOfVolume } from '../review/run.js';
import { countAffected, formatKnown, nameState } from '../review/verdicts/day-verdicts.js';
import { formatCount, formatLocalInstant, wrapText } from '../text/format.js';
import type { WriteCommand } from '../text/shell.js';
import { renderTable } from '../text/tables.js';
import { noColours, type Paint, paintState } from './colours.js';

interface StatusOptions {
  readonly command: WriteCommand;
  readonly timezone: string;
  readonly waits?: Waits;
  readonly paint?: Paint;
}

/** A day and its runs, newest first; it may have none. */
export interface StatusDay {
  readonly day: string;
  readonly runs: readonly Run[];
}

/** One line per run and per day without one, for `status` without a day, within 80 columns. */
export function renderStatus(
  days: readonly StatusDay[],
  { command, timezone, waits = new Map(), paint = noColours }: StatusOptions,
): string {
  if (days.length === 0) return `No runs yet. The first one: ${command('run')}\n`;
  const runs = days.flatMap((day) => day.runs);
  const head = ['day', 'run', 'state', 'delivered', 'undelivered', 'affected'];
  const sections = [
    renderTable(listRows(days, paint), head),
    ...Object.entries(marks).flatMap(([mark, meaning]) =>
      runs.some((run) => markOf(run) === ` ${mark}`) ? [`  ${mark} ${meaning}`] : [],
    ),
    ...runs.flatMap((run) => {
      const isGoodDay = runs.some((one) => one.day === run.day && makesDayGood(one, timezone));
      const isEarly = !isGoodDay && mayCompleteDay(run) && endedTooEarly(run, timezone);
      const isUnaccepted = !isGoodDay && isToBeAccepted(run);
      return noteRun(run, { waiting: waits.get(run.id), isEarly, isUnaccepted, timezone });
    }),
    `  undelivered: pending, refused or rejected; times in ${timezone}`,
    `  all about one day: ${command('status DAY')}`,
  ];
  return `${sections.join('\n')}\n`;
}

function toRow(run: Run, paint: Paint): string[] {
  const { delivered, pending, refused, rejected } = run.counts;
  return [
    run.day,
    run.id,
    `${paintState(paint, run, nameBriefly(run))}${markOf(run)}`,
    formatCount(delivered),
    formatCount(pending + refused + rejected),
    formatKnown(countAffected(run)),
  ];
}

/** The lines of runs, and of days without one. */
function listRows(days: readonly StatusDay[], paint: Paint): string[][] {
  const rows: string[][] = [];
  let gap: string[] = [];
  for (const { day, runs } of days) {
    if (runs.length === 0) {
      gap.push(day);
      continue;
    }
    rows.push(...renderGap(gap), ...runs.map((run) => toRow(run, paint)));
    gap = [];
  }
  return [...rows, ...renderGap(gap)];
}

/** Of a longer gap only the ends are listed. */
const gapListed = 31;

function renderGap(days: readonly string[]): string[][] {
  const lines = days.map((day) => [day, 'no run']);
  if (days.length <= gapListed) return lines;
  return [...lines.slice(0, 1), ['…', `no run (${formatCount(days.length)} days)`], ...lines.slice(-1)];
}

const marks = {
  '+': 'late bookings: only what earlier runs had not delivered',
  '*': 'reviewed while the day was not over; one line for all these runs of a day',
};

function markOf({ trigger, topsUp }: Run): '' | ` ${keyof typeof marks}` {
  if (trigger === 'today') return ' *';
  return topsUp ? ' +' : '';
}

function nameBriefly(run: Run): string {
  const name = nameState(run);
  return name === 'awaiting-result' ? 'awaiting' : name;
}

/** Notes that don't fit the columns. */
function noteRun(
  run: Run,
  {
    waiting,
    isEarly,
    isUnaccepted,
    timezone,
  }: {
    readonly waiting: WaitingReport | undefined;
    readonly isEarly: boolean;
    readonly isUnaccepted: boolean;
    readonly timezone: string;
  },
): string[] {
  const { day, reason, expected = 0, counts } = run;
  const { unanswered, posted } = counts;
  const notes = [
    ...(waiting ? [describeWaiting(waiting, (instant) => formatLocalInstant(instant, timezone))] : []),
    ...(run.state === 'succeeded' && hasUnexpectedCount(run)
      ? [`${formatCount(countRecords(counts))} records instead of the expected ${formatCount(expected)}`]
      : []),
    ...(isEarly ? [earlyNote] : []),
    ...(warnsOfVolume(run) ? [`far fewer bookings than usual${isUnaccepted ? ', to be accepted' : ''}`] : []),
    ...(unanswered ? [`${formatCount(unanswered)} without a verdict`] : []),
    ...(run.file?.setAside ?? []).map(describeSetAside),
    ...(posted > 0 ? [`${formatCount(posted)} by e-mail only`] : []),
    ...(reason === undefined ? [] : [`reason: ${reason}`]),
  ];
  return notes.length === 0 ? [] : wrapText(`${day}: ${notes.join(', ')}`);
}
