import { exitCode } from '../src/cli/exit-code.js';
import { readRunDetails, renderClosing, renderStatus } from '../src/cli/run-summary.js';
import type { Config } from '../src/config/load.js';
import { toCanaryReport } from '../src/report/canary.js';
import { collapseRuns, hasNews } from '../src/review/day/collapse-runs.js';
import { readWaiting, readWaits, toReport } from '../src/review/day/report.js';
import { readReference } from '../src/review/stored/stored-line.js';
import { listSuspects, suspectsReported } from '../src/review/suspects/listing.js';
import { kindOf } from '../src/sources/registry.js';
import { formatCount } from '../src/text/format.js';
import { clock } from './clock.js';
import { withReadOnlyLedger } from './ledgers.js';
import type { Terminal } from './terminal.js';
import { findMailPlace } from './verdict-mails.js';

/** Runs shown if no day is given: about a month. The runs of `schedule.today`, dozens a day, count as one. */
const runsShown = 40;
/** Enough to find that many. */
const runsRead = 2_000;

/** Shows the latest runs, or all runs of one day with rejected and refused bookings. */
export async function showStatus(
  config: Config,
  day: string | undefined,
  terminal: Terminal,
): Promise<number> {
  const { command, paint } = terminal;
  const style = { command, paint, timezone: config.timezone };
  const reportNone = (notice: string): number => {
    terminal.answer(renderStatus([], style), { runs: [] });
    terminal.say(notice);
    return exitCode.done;
  };
  return withReadOnlyLedger(config, reportNone, async (ledger) => {
    const all = await ledger.listRuns({ limit: runsRead, ...(day !== undefined && { day }) });
    const runs = day === undefined ? collapseRuns(all).slice(0, runsShown) : all.filter(hasNews);
    const withoutNews = day === undefined ? 0 : all.length - runs.length;
    if (day !== undefined && all.length === 0) {
      terminal.answer(`There is no run of ${day}.\n`, { runs });
      return exitCode.done;
    }
    if (day === undefined) {
      const waits = await readWaits(ledger, runs, clock());
      terminal.answer(renderStatus(runs, { ...style, waits }), {
        runs: runs.map((run) => ({
          ...toReport(run, { now: clock(), timezone: config.timezone }),
          waiting: waits.get(run.id),
        })),
      });
      return exitCode.done;
    }
    const mailPlace = findMailPlace(config);
    const { placeUnit } = kindOf(config.source);
    const detailed = await Promise.all(
      runs.map(async (run) => ({
        ...(await readRunDetails(ledger, run, placeUnit)),
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
          ...toReport(run, { now: clock(), timezone: config.timezone, listed: suspects }),
          ...(waiting && { waiting }),
          ...(canary && { canary: toCanaryReport(canary, clock()) }),
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
