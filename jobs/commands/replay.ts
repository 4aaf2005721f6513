import { InvalidArgumentError } from 'commander';
import { formatCount, formatCountOf, wrapText } from '../../src/base/format.js';
import { completeCommands, quoteForShell, type WriteCommand } from '../../src/base/shell.js';
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
import { describeWaiting, type RunReport, readReport } from '../../src/review/day/report.js';
import { runDaysConcurrently, runsAtOnce, waitForRunPermit } from '../../src/review/day/run-permits.js';
import { type ReviewParts, reviewDay } from '../../src/review/review-day.js';
import { listSuspects, suspectsReported } from '../../src/review/suspects/listing.js';
import { describeRun } from '../../src/rules/describe-day.js';
import { adviseInLines, type FindingCode, renderNotes } from '../../src/rules/finding.js';
import { type DeliveryKind, isActive, type Run } from '../../src/rules/run.js';
import { type App, recordOpening } from '../app.js';
import { clock } from '../clock.js';
import { bareFlag, command, dayOption, flag, option, requiredDay } from '../command.js';
import { type ExitCode, exitCode, exitCodeOf, worstOf } from '../exit-code.js';
import { type CommandFailure, describeFailure } from '../failure.js';
import { followUpAndSay, saveReport } from '../follow-up.js';
import { findConfiguredMisfit } from '../ledger-gate.js';
import {
  acceptVolume,
  applyConfiguredRetention,
  checkOut,
  delivery,
  out,
  readAccepts,
  readReason,
  reportingBreakOff,
  runReview,
  withDelivery,
} from '../main-job.js';

/** What the command line says about each day. */
interface RangeOptions {
  /** Which days, and how; without it the one day gets a new run. */
  readonly mode: RangeMode | undefined;
  readonly reason: string | undefined;
  readonly delivery: DeliveryKind | undefined;
  readonly acceptVolume: boolean;
}

function requestFor({ io }: App, { mode, delivery, reason, acceptVolume }: RangeOptions) {
  const request = requestOf(mode, { delivery, reason, accepts: readAccepts({ acceptVolume }, io.user) });
  return { ...request, trigger: 'replay' } as const;
}

/**
 * Reviews a range of days in order, as many at once as the ledger allows across all processes. A failed day does not end the
 * range, unless every other day would fail in the same way.
 *
 * @returns the exit code of the worst day
 */
async function replayRange(app: App, days: readonly BusinessDay[], options: RangeOptions): Promise<number> {
  const { signal, command } = app;
  const progress = app.followDays();
  const parts = await reportingBreakOff(app, days[0]?.iso ?? '', () => app.review());
  const outcomes = new Map<string, DayOutcome>();
  const note = (outcome: DayOutcome) => {
    outcomes.set(outcome.day, outcome);
    progress.end(outcome.day, outcome.words);
    app.report(outcome.json, { more: true });
  };
  const findEnd = () => [...outcomes.values()].find(({ endsRange }) => endsRange);
  const mayBegin = () => !signal.aborted && findEnd() === undefined;

  let notBegun: readonly BusinessDay[];
  try {
    notBegun = await runDaysConcurrently(days, {
      atOnce: Math.min(runsAtOnce, days.length),
      mayBegin,
      async begin(day) {
        const latest = await parts.ledger.runs.latest(day.iso);
        const plan = planDay(options.mode, latest, { ...options, day });
        if (plan.action === 'nothing') {
          note(outcomeOfLeft(day.iso, plan.why, plan.run?.id));
          return { ended: Promise.resolve() };
        }
        const onWait = () =>
          progress.say(`${day.iso}: waiting: the maximum number of runs is in progress (${runsAtOnce})`);
        const permit = await waitForRunPermit(parts.ledger, runsAtOnce, { signal, onWait });
        if (!permit || !mayBegin()) {
          await permit?.release();
          return undefined;
        }
        const ended = reviewOne(app, day, parts, options)
          .then(note)
          .finally(() => permit.release());
        return { ended };
      },
    });
    if (!signal.aborted) await followUpAndSay({ ...app, say: progress.say, warn: progress.say });
    for (const { run } of outcomes.values())
      if (run && !signal.aborted) await saveReport({ ...app, warn: progress.say }, run);
    if (!signal.aborted) await applyConfiguredRetention({ ...app, warn: progress.say });
  } finally {
    progress.stop();
    app.endProgress();
  }

  const inOrder = days.flatMap(({ iso }) => outcomes.get(iso) ?? []);
  app.say(renderRange(inOrder));
  const [next, to] = [notBegun[0], days.at(-1)];
  const codes = inOrder.map(({ code }) => code);
  if (!next || !to) return worstOf(codes);
  const end = findEnd();
  const why = signal.aborted || !end ? 'it was stopped' : `${end.day} failed in a way that every day would`;
  app.say(renderNotStarted(options, { why, next: next.iso, to: to.iso }, command));
  return worstOf([...codes, exitCode.failed]);
}

async function reviewOne(
  app: App,
  day: BusinessDay,
  parts: ReviewParts,
  options: RangeOptions,
): Promise<DayOutcome> {
  const { ledger } = parts;
  const request = requestFor(app, options);
  const { onOpened, recorded } = recordOpening(ledger, request, app);
  try {
    const asked = { ...request, day, configuredDelivery: app.config.delivery };
    const { run } = await reportingBreakOff(app, day.iso, () =>
      reviewDay(asked, parts, app.signal, { onOpened }),
    );
    const listed = await listSuspects(ledger, run, suspectsReported);
    const report = await readReport(ledger, run, { now: clock(), timezone: day.zone, listed });
    return outcomeOfRun(run, report, { code: exitCodeOf(run), timezone: day.zone, command: app.command });
  } catch (error) {
    const failure = describeFailure(error);
    const message = completeCommands(failure.message, app.command);
    return outcomeOfFailure(day.iso, { ...failure, message });
  } finally {
    await recorded();
  }
}

/** The outcome of one day of a range. */
interface DayOutcome {
  readonly day: string;
  readonly code: ExitCode;
  /** The object that `--json` prints. */
  readonly json: object;
  /** How it ended, in a few words. */
  readonly words: string;
  readonly row: readonly (string | undefined)[];
  /** What to do about it. */
  readonly advice: readonly string[];
  /** Every other day would fail the same way: a wrong API key, a wrong host key, an unusable ledger. */
  readonly endsRange: boolean;
  /** Only if it was reviewed. */
  readonly run?: Run;
}

export function outcomeOfRun(
  run: Run,
  json: RunReport,
  { code, ...style }: { readonly code: ExitCode } & AdviceStyle,
): DayOutcome {
  const { day, runId, state, counts, topsUp = false, error } = json;
  const isStopped = (state === 'collecting' || state === 'delivering') && code !== exitCode.done;
  const shown = isStopped ? 'stopped' : state;
  const isNothingNew = topsUp && state === 'succeeded' && counts.accepted === 0;
  const sums = [counts.delivered, counts.pending, counts.refused].map(formatCount);
  return {
    ...{ day, code, json, run },
    words: isNothingNew ? 'succeeded, nothing new' : `${shown}, ${formatCount(counts.delivered)} delivered`,
    row: [day, runId, topsUp ? `${shown} +` : shown, ...sums],
    advice: code === exitCode.done ? [] : adviseOn(run, json, style),
    endsRange: error?.class === 'fatal',
  };
}

interface AdviceStyle {
  readonly timezone: string;
  readonly command: WriteCommand;
}

/** What of its description leaves something to do about the day. */
const toDo: readonly FindingCode[] = ['incomplete', 'volume', 'implausible'];

function adviseOn(run: Run, { waiting }: RunReport, { timezone, command }: AdviceStyle): string[] {
  const { state, findings } = describeRun(run, { timezone });
  const notes = isActive(run) || !state ? [] : [state];
  return [
    `${run.day}:`,
    ...(waiting ? [`  ${describeWaiting(waiting)}`] : []),
    ...renderNotes([...notes, ...findings.filter(({ code }) => toDo.includes(code))], command),
    ...(isActive(run) ? adviseInLines(state?.advice ?? [], command).map((line) => `  ${line}`) : []),
  ];
}

/** A day that the mode leaves out. */
export function outcomeOfLeft(day: string, why: string, runId?: string): DayOutcome {
  return {
    day,
    code: exitCode.done,
    json: { day, runId: runId ?? null, skipped: why },
    words: `left as it is: it ${why}`,
    row: [day, runId, why],
    advice: [],
    endsRange: false,
  };
}

export function outcomeOfFailure(day: string, failure: CommandFailure): DayOutcome {
  const { class: kind, message } = failure;
  return {
    day,
    code: failure.exitCode,
    json: { day, error: { class: kind, message } },
    words: message,
    row: [day, undefined, kind === 'busy' ? 'busy' : 'error'],
    advice: [`${day}:`, ...wrapText(message)],
    endsRange: kind !== 'usage' && kind !== 'busy',
  };
}

const head = ['day', 'run', 'state', 'delivered', 'pending', 'refused'];

/** The table at the end of a range, and what to do about each day that is not done. */
export function renderRange(outcomes: readonly DayOutcome[]): string {
  const toppedUp = outcomes.some(({ json }) => 'topsUp' in json);
  return [
    renderTable(
      outcomes.map(({ row }) => row),
      head,
    ),
    ...(toppedUp ? ['  + late bookings: only what earlier runs had not delivered'] : []),
    ...outcomes.flatMap(({ advice }) => advice),
    '',
  ].join('\n');
}

/** Which days of a range were not started, from `next` on, why ("it was stopped"), and how to continue. */
export function renderNotStarted(
  { mode, reason, delivery }: Omit<RangeOptions, 'acceptVolume'>,
  { next, to, why }: { readonly next: string; readonly to: string; readonly why: string },
  command: WriteCommand,
): string {
  const replay = [
    `replay ${next}`,
    next !== to && `--to ${to}`,
    mode && `--${mode}`,
    reason !== undefined && `--reason ${quoteForShell(reason)}`,
    delivery && `--delivery ${delivery}`,
  ];
  return [
    `Not started: ${next === to ? next : `${next} to ${to}`}, because ${why}.`,
    `To continue: ${command(replay.filter(Boolean).join(' '))}`,
    '',
  ].join('\n');
}

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
      { read: readReason },
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
  return runReview(app, day, requestFor(app, options));
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
