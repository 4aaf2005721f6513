import { createBusinessDay } from '../src/booking/business-day.js';
import type { StatusOptions } from '../src/cli/commands/history.js';
import { exitCode } from '../src/cli/exit-code.js';
import { renderStatus, type StatusDay } from '../src/cli/status.js';
import type { Config } from '../src/config/load.js';
import { canaryToJson } from '../src/review/canary.js';
import { hasNews } from '../src/review/day/collapse-runs.js';
import { readWaiting, readWaits, runToJson } from '../src/review/day/report.js';
import { groupByDay } from '../src/review/day-runs.js';
import type { Run } from '../src/review/run.js';
import { readReference } from '../src/review/stored/stored-line.js';
import { listSuspects, suspectsReported } from '../src/review/suspects/listing.js';
import { kindOf } from '../src/sources/registry.js';
import { formatCount } from '../src/text/format.js';
import { UsageError } from '../src/text/usage-error.js';
import { clock } from './clock.js';
import { readDayIn } from './days.js';
import { withReadOnlyLedger } from './ledgers.js';
import { readRunDetails, renderClosing } from './run-summary.js';
import type { Terminal } from './terminal.js';
import { findMailPlace } from './verdict-mails.js';

/** Bounds for days that are written YYYY-MM-DD. */
const [anyFrom, anyTo] = ['0001-01-01', '9999-12-31'];
const runsRead = 2_000;
/** Refused bookings in the JSON of a run; `refused` lists all. */
const refusedShown = 20;

/** Lists the latest days, the newest first: their runs, and those that have none. */
export async function listDays(config: Config, options: StatusOptions, terminal: Terminal): Promise<number> {
  const { timezone } = config;
  const { from = anyFrom, to = anyTo, limit } = options;
  if (to < from) throw new UsageError(`--to ${to} is before --from ${from}`);
  const style = { command: terminal.command, paint: terminal.paint, timezone };
  const reportNone = (notice: string): number => {
    terminal.answer(renderStatus([], style), { runs: [], daysWithoutRun: [] });
    terminal.say(notice);
    return exitCode.done;
  };
  return withReadOnlyLedger(config, reportNone, async (ledger) => {
    const found = [...groupByDay(await ledger.listRunsOfDays({ from, to }))];
    const { firstDay } = await ledger.summarise(readDayIn(timezone, 'today'));
    const listed = new Map(found.slice(-limit));
    // Before its first run nothing was missed, and older days than the limit shows are not listed.
    const isWhole = found.length <= limit && firstDay !== undefined && firstDay < from;
    const oldest = isWhole ? from : [...listed.keys()][0];
    const yesterday = readDayIn(timezone).iso;
    const newest = [...listed.keys(), to < yesterday ? to : yesterday].sort().at(-1);
    const days = oldest === undefined ? [] : listEach(oldest, newest ?? oldest, listed);
    if (days.length === 0 && firstDay !== undefined) {
      terminal.answer(`There is no run ${describeRange(options)}.\n`, { runs: [], daysWithoutRun: [] });
      return exitCode.done;
    }
    const runs = days.flatMap((day) => day.runs);
    const waits = await readWaits(ledger, runs, clock());
    terminal.answer(renderStatus(days, { ...style, waits }), {
      runs: runs.map((run) => ({
        ...runToJson(run, { now: clock(), timezone }),
        waiting: waits.get(run.id),
      })),
      daysWithoutRun: days.filter((one) => one.runs.length === 0).map(({ day }) => day),
    });
    return exitCode.done;
  });
}

function describeRange({ from, to }: StatusOptions): string {
  if (to === undefined) return `since ${from}`;
  return from === undefined ? `until ${to}` : `from ${from} to ${to}`;
}

/** Each day of the range, the newest first. */
function listEach(oldest: string, newest: string, runs: ReadonlyMap<string, readonly Run[]>): StatusDay[] {
  const days: StatusDay[] = [];
  for (let day = createBusinessDay(newest, 'UTC'); day.iso >= oldest; day = day.previous())
    days.push({ day: day.iso, runs: runs.get(day.iso) ?? [] });
  return days;
}

/** Shows what happened to one day: all its runs, and how many records were rejected or refused. */
export async function showDay(config: Config, day: string, terminal: Terminal): Promise<number> {
  const { command, paint } = terminal;
  const { timezone } = config;
  const style = { command, paint, timezone };
  const reportNone = (notice: string): number => {
    terminal.answer(renderStatus([], style), { runs: [] });
    terminal.say(notice);
    return exitCode.done;
  };
  return withReadOnlyLedger(config, reportNone, async (ledger) => {
    const all = await ledger.listRuns({ limit: runsRead, day });
    if (all.length === 0) {
      terminal.answer(`There is no run of ${day}.\n`, { runs: [] });
      return exitCode.done;
    }
    const runs = all.filter(hasNews);
    const withoutNews = all.length - runs.length;
    const mailPlace = findMailPlace(config);
    const { placeUnit } = kindOf(config.source);
    const detailed = await Promise.all(
      runs.map(async (run) => ({
        ...(await readRunDetails(ledger, run, placeUnit)),
        refused: await ledger.listRefused(run.id, refusedShown),
        suspects: await listSuspects(ledger, run, suspectsReported),
        ...(await readWaiting(ledger, run, clock())),
      })),
    );
    terminal.answer(
      [
        ...detailed.map((details) =>
          renderClosing(details, { ...style, now: clock(), isOnlooker: true, mailPlace }),
        ),
        ...(withoutNews === 0
          ? []
          : [`${formatCount(withoutNews)} more, by schedule.today, found nothing new.\n`]),
      ].join('\n'),
      {
        runs: detailed.map(({ run, rejects, warnings, refused, suspects, waiting, canary }) => ({
          ...runToJson(run, { now: clock(), timezone, listed: suspects }),
          ...(waiting && { waiting }),
          ...(canary && { canary: canaryToJson(canary, clock()) }),
          rejects,
          warnings,
          refused: refused.map(({ line, form, code, step }) => ({
            reference: readReference(line, form) ?? null,
            code,
            step,
          })),
        })),
        ...(withoutNews > 0 && { withoutNews }),
      },
    );
    return exitCode.done;
  });
}
