import { InvalidArgumentError } from 'commander';
import { answerWithin } from '../../src/base/abort.js';
import type { Paint } from '../../src/base/colours.js';
import { formatCount, formatLocalInstant, wrapText } from '../../src/base/format.js';
import { describeError, UsageError } from '../../src/base/safe-error.js';
import type { WriteCommand } from '../../src/base/shell.js';
import { renderTable } from '../../src/base/tables.js';
import { createBusinessDay, goBack, listDays } from '../../src/booking/business-day.js';
import type { ReadOnlyLedger } from '../../src/ledger/ledger.js';
import { describeBusy, workerToJson } from '../../src/ledger/workers.js';
import {
  describeWaiting,
  type RunReport,
  readDescription,
  readReport,
  runToJson,
  type WaitingReport,
} from '../../src/review/day/report.js';
import { refusedToJson } from '../../src/review/stored/stored-line.js';
import { listSuspects, suspectsReported } from '../../src/review/suspects/listing.js';
import { describeUnknown, findUnknownFolders, unknownToJson } from '../../src/review/unknown-folders.js';
import { outcomeToJson } from '../../src/rules/day-outcome.js';
import { describeRun } from '../../src/rules/describe-day.js';
import { type FindingCode, isDecision } from '../../src/rules/finding.js';
import { hasNews, isGoodDay } from '../../src/rules/good-day.js';
import { groupByDay, mayCompleteDay, type Run } from '../../src/rules/run.js';
import { countAffected, formatKnown, nameState, paintState } from '../../src/rules/run-verdicts.js';
import { kindOf } from '../../src/sources/registry.js';
import type { App } from '../app.js';
import { clock } from '../clock.js';
import { command, dayOption, flag, option, optionalDay, wholeNumber } from '../command.js';
import { exitCode } from '../exit-code.js';
import { findMisfitOf } from '../parts.js';
import { readRunDetails, renderClosing } from '../run-summary.js';
import { findMailbox } from '../verdict-mails.js';

/** Bounds for days that are written YYYY-MM-DD. */
const [anyFrom, anyTo] = ['0001-01-01', '9999-12-31'];
const runsRead = 2_000;
/** Refused bookings in the JSON of a run; `refused` lists all. */
const refusedShown = 20;

interface Range {
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** One day, or the list of days. */
export default command({
  place: ['common', 5],
  summary: 'list the days and their runs, or show one day',
  day: optionalDay('default: list the days'),
  options: {
    from: dayOption('--from <day>', 'list the days from this one'),
    to: dayOption('--to <day>', 'list the days up to this one'),
    limit: option('--limit <days>', 'list so many days that have a run', {
      read: wholeNumber(1, 100_000),
      otherwise: 40,
    }),
    workers: flag('--workers', 'list the processes that work now'),
  },
  examples: `
Days without a run are listed, too.

Examples:
  hotel-review status                   the latest days
  hotel-review status 2026-11-20        what happened on that day
  hotel-review status --from 2026-11-01 --to yesterday
  hotel-review status --workers         which processes work, on which machines`,

  read(given) {
    if (given.day !== undefined && (given.from ?? given.to) !== undefined)
      throw new InvalidArgumentError('expected one day, or a range with --from and --to');
    if (given.workers && (given.day ?? given.from ?? given.to) !== undefined)
      throw new InvalidArgumentError('expected --workers, or days');
    return given;
  },

  async run(app, { day, from, to, limit, workers }) {
    if (from !== undefined && to !== undefined && to < from)
      throw new UsageError(`--to ${to} is before --from ${from}`);
    const ledger = await app.findLedger();
    if (workers) return ledger ? showWorkers(app, ledger) : app.answerNone({ workers: [] });
    const lost = await findLost(app, ledger, { day, from, to });
    const answer: App['answer'] = (text, json, code) => {
      const written = typeof text === 'string' ? [text] : text;
      return app.answer([...written, ...lost.words], { ...json, ...lost.json }, code);
    };
    if (ledger) {
      const shown = { ...app, answer };
      return day === undefined ? showDays(shown, ledger, { from, to }, limit) : showDay(shown, ledger, day);
    }
    answer(describeNoRuns(app.command), { runs: [], ...(day === undefined && { daysWithoutRun: [] }) });
    app.say(app.describeNoLedger());
    return exitCode.done;
  },
});

/** Lists the processes that were seen within the last lease. */
async function showWorkers(app: App, ledger: ReadOnlyLedger): Promise<number> {
  const workers = await ledger.workers.listSeen();
  if (workers.length === 0) return app.answer('No process works now.', { workers: [] });
  const rows = workers.map((worker) => [
    ...[worker.id, worker.host, worker.version, describeBusy(worker.busy)],
    formatLocalInstant(worker.startedAt, app.config.timezone),
  ]);
  return app.answer(
    [
      renderTable(rows, ['process', 'host', 'version', 'busy with', 'since']),
      `  times in ${app.config.timezone}`,
    ],
    { workers: workers.map(workerToJson) },
  );
}

/** How long `status` waits for an archive: people look while something is wrong. */
const archiveMs = 5_000;

/** What the ledger does not know: that it is the wrong one, or runs whose files are in the archive. */
async function findLost(
  app: App,
  ledger: ReadOnlyLedger | undefined,
  { day, from = day ?? anyFrom, to = day ?? anyTo }: Partial<Range> & { readonly day: string | undefined },
) {
  const archive = app.archive();
  try {
    const [misfit, { ours }] = await answerWithin(
      archiveMs,
      Promise.all([findMisfitOf(app.config, archive, ledger), findUnknownFolders(archive, ledger)]),
    );
    const unknown = ours.filter((folder) => folder.day >= from && folder.day <= to);
    return {
      words: [...(misfit ? wrapText(misfit.message) : []), ...describeUnknown(archive, unknown)],
      json: {
        ...(misfit && { ledgerProblem: misfit.message }),
        ...unknownToJson(archive, unknown),
      },
    };
  } catch (error) {
    app.warn(`warning: the archive ${archive.path} could not be looked at: ${describeError(error)}`);
    return { words: [], json: {} };
  }
}

/** Lists the latest days, the newest first: their runs, and those that have none. */
async function showDays(app: App, ledger: ReadOnlyLedger, range: Range, limit: number): Promise<number> {
  const { timezone } = app.config;
  const { from = anyFrom, to = anyTo } = range;
  const found = [...groupByDay(await ledger.runs.listOfDays({ from, to }))];
  const today = createBusinessDay(app.today(), timezone);
  const { firstDay } = await ledger.runs.summarise(today);
  const listed = new Map(found.slice(-limit));
  // Before its first run nothing was missed, and older days than the limit shows are not listed.
  const isWhole = found.length <= limit && firstDay !== undefined && firstDay < from;
  const oldest = isWhole ? from : [...listed.keys()][0];
  const yesterday = today.previous().iso;
  const newest = [...listed.keys(), to < yesterday ? to : yesterday].sort().at(-1);
  const days = oldest === undefined ? [] : listEach(oldest, newest ?? oldest, listed);
  if (days.length === 0) {
    const text =
      firstDay === undefined ? describeNoRuns(app.command) : `There is no run ${describeRange(range)}.`;
    return app.answer(text, { runs: [], daysWithoutRun: [] });
  }
  const reports = new Map<string, RunReport>();
  for (const run of days.flatMap(({ runs }) => runs))
    reports.set(run.id, await readReport(ledger, run, { now: clock(), timezone }));
  return app.answer(renderDays(days, { ...app, timezone, waits: reports }), {
    runs: [...reports.values()],
    daysWithoutRun: days.filter(({ runs }) => runs.length === 0).map(({ day }) => day),
  });
}

function describeNoRuns(writeCommand: WriteCommand): string {
  return `No runs yet. The first one: ${writeCommand('run')}`;
}

function describeRange({ from, to }: Range): string {
  if (to === undefined) return `since ${from}`;
  return from === undefined ? `until ${to}` : `from ${from} to ${to}`;
}

/** A day and its runs, newest first; it may have none. */
export interface StatusDay {
  readonly day: string;
  readonly runs: readonly Run[];
}

/** A run of a mistyped year must not list each day since. */
const gapsWithin = 1_000;

/** The days of the range, the newest first; those without a run only of the last thousand. */
function listEach(oldest: string, newest: string, runs: ReadonlyMap<string, readonly Run[]>): StatusDay[] {
  const { iso: since } = goBack(createBusinessDay(newest, 'UTC'), gapsWithin - 1);
  const days = new Set([...runs.keys(), ...listDays(oldest > since ? oldest : since, newest)]);
  return [...days]
    .sort()
    .reverse()
    .map((day) => ({ day, runs: runs.get(day) ?? [] }));
}

interface DaysStyle {
  readonly command: WriteCommand;
  readonly paint: Paint;
  readonly timezone: string;
  /** What runs wait for, by run id. */
  readonly waits: ReadonlyMap<string, { readonly waiting?: WaitingReport }>;
}

/** One line per run and per day without one, within 80 columns. */
export function renderDays(days: readonly StatusDay[], style: DaysStyle): string[] {
  const runs = days.flatMap((day) => day.runs);
  return [
    renderTable(listRows(days, style), ['day', 'run', 'state', 'delivered', 'undelivered', 'affected']),
    ...Object.entries(marks).flatMap(([mark, meaning]) =>
      runs.some((run) => markOf(run) === ` ${mark}`) ? [`  ${mark} ${meaning}`] : [],
    ),
    ...days.flatMap(({ runs: ofDay }) => {
      const isGoodNow = isGoodDay(ofDay, style.timezone);
      return ofDay.flatMap((run) => noteRun(run, isGoodNow, style));
    }),
    `  undelivered: pending, refused or rejected; times in ${style.timezone}`,
    `  all about one day: ${style.command('status DAY')}`,
  ];
}

/** The lines of runs, and of days without one. */
function listRows(days: readonly StatusDay[], style: DaysStyle): string[][] {
  const rows: string[][] = [];
  let gap: string[] = [];
  for (const { day, runs } of days) {
    if (runs.length === 0) {
      gap.push(day);
      continue;
    }
    rows.push(...renderGap(gap), ...runs.map((run) => toRow(run, style)));
    gap = [];
  }
  return [...rows, ...renderGap(gap)];
}

function toRow(run: Run, { paint, timezone }: DaysStyle): string[] {
  const { delivered, pending, refused, rejected } = run.counts;
  const name = nameState(run);
  const isGood = describeRun(run, { timezone }).judgement === 'good';
  return [
    ...[run.day, run.id],
    `${paintState(paint, run, isGood, name === 'awaiting-result' ? 'awaiting' : name)}${markOf(run)}`,
    formatCount(delivered),
    formatCount(pending + refused + rejected),
    formatKnown(countAffected(run)),
  ];
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

/** What columns and marks say already. */
const inColumns: readonly FindingCode[] = ['affected', 'refused', 'suspects', 'late', 'uncompared'];

/** What does not fit the columns. */
function noteRun(run: Run, isGoodNow: boolean, { timezone, waits }: DaysStyle): string[] {
  const waiting = waits.get(run.id)?.waiting;
  const { findings } = describeRun(run, { timezone, isGoodNow });
  const hidden = isGoodNow || !mayCompleteDay(run) ? [...inColumns, 'incomplete'] : inColumns;
  const notes = [
    ...(waiting ? [describeWaiting(waiting, (instant) => formatLocalInstant(instant, timezone))] : []),
    ...findings
      .filter(({ code }) => !hidden.includes(code))
      .map((one) => (isDecision(one) ? `${one.words}, to be accepted` : one.words)),
  ];
  return notes.length === 0 ? [] : wrapText(`${run.day}: ${notes.join('; ')}`);
}

/** Of a run that one process performed, its log says which. */
function renderWorkers(workers: readonly { readonly worker: string; readonly attempts: number }[]): string[] {
  if (workers.length < 2) return [];
  const rows = workers.map(({ worker, attempts }) => [worker, attempts]);
  return [`  performed by:\n${renderTable(rows, ['process', 'attempts'])}`];
}

/** Shows what happened to one day: all its runs, and how many records were rejected or refused. */
async function showDay(app: App, ledger: ReadOnlyLedger, day: string): Promise<number> {
  const { timezone, source } = app.config;
  const all = await ledger.runs.list({ limit: runsRead, day });
  if (all.length === 0)
    return app.answer(`There is no run of ${day}. To start one: ${app.command(`run ${day}`)}`, { runs: [] });
  const runs = all.filter(hasNews);
  const withoutNews = all.length - runs.length;
  const now = clock();
  const { outcome, headline } = await readDescription(ledger, day, all, { now, timezone });
  const mailbox = findMailbox(app.config) ?? null;
  const { placeUnit } = kindOf(source);
  const isGoodNow = isGoodDay(all, timezone);
  const style = { ...app, timezone, now, placeUnit, isOnlooker: true, mailbox, isGoodNow };
  const text: string[] = [];
  const reports: object[] = [];
  for (const run of runs) {
    const { rejects, warnings, ...details } = await readRunDetails(ledger, run, now);
    const listed = await listSuspects(ledger, run, suspectsReported);
    const refused = await ledger.bookings.listRefused(run.id, refusedShown);
    const workers = await ledger.steps.countByWorker(run.id);
    text.push(renderClosing(run, { rejects, warnings, ...details }, style), ...renderWorkers(workers));
    reports.push({
      ...runToJson(run, { now, timezone, listed }),
      ...details,
      ...{ rejects, warnings, refused: refused.map(refusedToJson), workers },
    });
  }
  return app.answer(
    [
      outcome.sent.length > 1 && `${day} in all:\n${wrapText(headline).join('\n')}\n`,
      ...text,
      withoutNews > 0 && `${formatCount(withoutNews)} more, by schedule.today, found nothing new.`,
    ],
    { outcome: outcomeToJson(outcome), runs: reports, ...(withoutNews > 0 && { withoutNews }) },
  );
}
