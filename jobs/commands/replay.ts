import { InvalidArgumentError } from 'commander';
import { formatCountOf, wrapText } from '../../src/base/format.js';
import { completeCommands } from '../../src/base/shell.js';
import { renderTable } from '../../src/base/tables.js';
import { type BusinessDay, createBusinessDay } from '../../src/booking/business-day.js';
import {
  describePlan,
  isToReview,
  listBegunDays,
  type PlannedDay,
  planDay,
  planRange,
  type RangeMode,
  rangeModes,
  requestOf,
  toPlanObjects,
} from '../../src/review/day/range-plan.js';
import type { App } from '../app.js';
import { clock } from '../clock.js';
import { bareFlag, command, dayOption, flag, option, requiredDay } from '../command.js';
import { exitCode } from '../exit-code.js';
import { findConfiguredMisfit } from '../ledger-gate.js';
import { type RangeOptions, replayRange, toRequest } from '../replay-range.js';
import {
  acceptVolume,
  checkOut,
  delivery,
  out,
  readReason,
  reportingBreakOff,
  runReview,
  withDelivery,
} from '../review-day.js';

/** Reviews a day or a range of days again, or only what is missing. */
export default command({
  place: ['common', 4],
  summary: 'review a day or a range of days again, or only what is missing',
  day: requiredDay,
  options: {
    to: dayOption('--to <day>', 'the last day of a range; needs one of the next four, and a reason'),
    missing: bareFlag('--missing', 'only days that have no run'),
    failed: bareFlag('--failed', 'only days whose run failed or was interrupted; resumes it'),
    all: bareFlag('--all', 'every day in a new run'),
    late: bareFlag('--late', 'late bookings: send only what no earlier run of the day delivered'),
    reason: option(
      '--reason <text>',
      'why; required for a range, with --all, and for a day with an unfinished run, which is then cancelled',
      readReason,
    ),
    delivery,
    acceptVolume,
    dryRun: flag(
      '--dry-run',
      'read and check, send nothing; with one of the modes above: only list the days',
    ),
    out,
  },
  examples: `
A failed day does not end a range, unless every other day would fail in the same
way (a wrong API key, a wrong host key). The exit code is that of the worst day;
from worst to best: 2, 1, 4, 3, 5, 0.

Examples:
  hotel-review replay 2026-11-20  review a finished day once more
  hotel-review replay 2026-11-20 --reason "new export"
                                  cancel its unfinished run and start a new one
  hotel-review replay 2026-11-20 --late
                                  send only late bookings
  hotel-review replay 2026-11-01 --to 2026-11-20 --missing --dry-run
                                  which days would be reviewed
  hotel-review replay 2026-11-01 --to yesterday --failed --reason "disk full"
                                  resume all that failed
  hotel-review replay 2026-11-01 --to 2026-11-20 --all --reason "new mapping"
                                  every day in a new run`,

  read(given, { globals }) {
    checkOut(given);
    const [mode, ...others] = rangeModes.filter((name) => given[name]);
    if (others.length > 0)
      throw new InvalidArgumentError(
        `expected one of --${rangeModes.join(', --')}, got: --${[mode, ...others].join(' --')}`,
      );
    if (given.to !== undefined && mode === undefined)
      throw new InvalidArgumentError(
        `--to needs one of --${rangeModes.join(', --')}: which days of the range`,
      );
    if (mode !== undefined && given.out !== undefined)
      throw new InvalidArgumentError(
        `--out writes what one day would send; with --${mode}, --dry-run only lists days`,
      );
    const isEveryDay = mode === 'all' || given.to !== undefined;
    if (isEveryDay && given.reason === undefined && !given.dryRun)
      throw new InvalidArgumentError(
        `${given.to === undefined ? '--all' : 'a range'} needs a reason: --reason TEXT`,
      );
    return { ...given, mode, configFile: globals.config };
  },

  tells: ({ dryRun }) => !dryRun,

  async run(configured, { configFile, day: from, to, ...given }) {
    const app = withDelivery(configured, configFile, given.delivery);
    const { timezone } = app.config;
    const days = listBegunDays(createBusinessDay(from, timezone), to ?? from, clock());
    const last = days.at(-1);
    if (last && to !== undefined && last.iso < to)
      app.say(`The range ends with ${last.iso}: ${last.next().iso} has not started in ${timezone}.`);
    // A range is only replayed with a reason, so no plan of one is refused for lack of it.
    const reason = given.reason ?? (to === undefined ? undefined : 'asked for');
    if (given.dryRun && given.mode !== undefined)
      return listPlans(app, days, { ...given, mode: given.mode, reason });
    const [day, ...others] = days;
    if (!day || others.length > 0) return replayRange(app, days, given);
    return given.dryRun
      ? (await import('../dry-run.js')).dryRunDay(app, day, given.out)
      : replayDay(app, day, given);
  },
});

async function replayDay(app: App, day: BusinessDay, options: RangeOptions): Promise<number> {
  const { mode } = options;
  if (mode === 'missing' || mode === 'failed') {
    const plan = await reportingBreakOff(app, day.iso, async () => {
      const misfit = await findConfiguredMisfit(app.config);
      if (misfit) throw misfit;
      const ledger = await app.findLedger();
      return planDay(mode, await ledger?.runs.latest(day.iso), { ...options, day });
    });
    if (plan.action === 'nothing') {
      const { run, why } = plan;
      app.say(`${day.iso} is left as it is: it ${why}${run ? ` (run ${run.id}, ${run.state})` : ''}`);
      app.report({ day: day.iso, runId: run?.id ?? null, skipped: why });
      return exitCode.done;
    }
  }
  return runReview(app, day, { ...requestOf(mode, toRequest(app, options)), trigger: 'replay' });
}

/** Lists days and what a replay would do with each, judged from the ledger alone. */
async function listPlans(
  app: App,
  days: readonly BusinessDay[],
  options: RangeOptions & { readonly mode: RangeMode },
): Promise<number> {
  const ledger = await app.findLedger();
  const planned = ledger
    ? await planRange(ledger, days, options)
    : days.map((day) => ({ day: day.iso, plan: planDay(options.mode, undefined, { ...options, day }) }));
  const shown = planned.map(({ day, plan }): PlannedDay => {
    if (plan.action !== 'refused') return { day, plan };
    return { day, plan: { ...plan, message: completeCommands(plan.message, app.command) } };
  });
  return app.answer(renderPlans(shown), { dryRun: true, days: toPlanObjects(shown) });
}

/** One line per day: what would be done; below, why days would be refused. */
export function renderPlans(days: readonly PlannedDay[]): string {
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
