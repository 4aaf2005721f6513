import { type Command, InvalidArgumentError, Option } from 'commander';
import { type RangeMode, rangeModes } from '../../review/day/range-plan.js';
import type { DeliveryKind } from '../../review/run.js';
import {
  addDay,
  type DayOption,
  type Finish,
  type GlobalOptions,
  readDay,
  readGlobals,
  requireDay,
  takeDay,
} from './options.js';

interface DryRunOptions {
  readonly dryRun: boolean;
  readonly out?: string;
}

export interface RunOptions extends DryRunOptions, DayOption {
  readonly delivery?: DeliveryKind;
  /** Accepts the day, however few bookings it has. */
  readonly acceptVolume: boolean;
  /** Accepts the day, though its bookings are those of an earlier one. */
  readonly acceptRepeated: boolean;
  /** Leaves the steps to workers and exits. */
  readonly detach: boolean;
  /** Where the metrics are written when the run has ended. */
  readonly metricsFile?: string;
}

export interface ReplayOptions extends DryRunOptions {
  /** The last day of a range. */
  readonly to?: string;
  /** Which days, and how; without it the one day gets a new run. */
  readonly mode?: RangeMode;
  readonly reason?: string;
  readonly acceptVolume: boolean;
  readonly delivery?: DeliveryKind;
}

/** The commands that review days; each returns the exit code. */
export interface ReviewHandlers {
  run(options: RunOptions, globals: GlobalOptions): Promise<number>;
  cancel(day: string, options: { readonly reason: string }, globals: GlobalOptions): Promise<number>;
  replay(day: string, options: ReplayOptions, globals: GlobalOptions): Promise<number>;
}

export function addReviewCommands(program: Command, handlers: ReviewHandlers, finish: Finish): void {
  addDay(program.command('run').description('review a business day, or resume one that was interrupted'))
    .addOption(deliveryOption())
    .option('--accept-volume', acceptVolume, false)
    .option('--accept-repeated', 'send the day even if an earlier day sent the same bookings', false)
    .option('--detach', 'collect the day, leave the rest to workers (`work`, `serve`), and exit', false)
    .option(
      '--metrics-file <path>',
      "at the end, write metrics for node_exporter's textfile collector (*.prom)",
    )
    .option('--dry-run', 'read and check the day, send nothing', false)
    .option('--out <dir>', 'with --dry-run: write what would be sent to this folder (with guest names)')
    .addHelpText('after', runExamples)
    .action(async (day: string | undefined, options: RunOptions, command: Command) => {
      checkOut(options);
      if (options.dryRun && options.metricsFile !== undefined)
        throw new InvalidArgumentError(
          '--metrics-file and --dry-run exclude each other: a dry run is not a run',
        );
      finish(await handlers.run({ ...options, ...takeDay(day, options) }, readGlobals(command)));
    });

  addDay(
    program
      .command('cancel')
      .description("abandon a day's unfinished run; the schedule then leaves that day alone"),
    'required',
  )
    .requiredOption('--reason <text>', 'why', readReason)
    .addHelpText('after', cancelExamples)
    .action(async (day: string | undefined, { reason, ...option }: CancelOptions, command: Command) => {
      const chosen = requireDay('cancel', day, option);
      finish(await handlers.cancel(chosen, { reason }, readGlobals(command)));
    });

  const replay = addDay(
    program.command('replay').description('review a day or a range of days again, or only what is missing'),
    'required',
  ).option('--to <day>', 'the last day of a range; needs one of the next four, and a reason', readDay);
  addRangeModes(replay)
    .option(
      '--reason <text>',
      'why; required for a range, with --all, and for a day with an unfinished run, which is then cancelled',
      readReason,
    )
    .addOption(deliveryOption())
    .option('--accept-volume', acceptVolume, false)
    .option(
      '--dry-run',
      'read and check, send nothing; with one of the modes above: only list the days',
      false,
    )
    .option('--out <dir>', 'with --dry-run: write what would be sent to this folder (with guest names)')
    .addHelpText('after', replayExamples)
    .action(async (argument: string | undefined, options: ReplayFlags, command: Command) => {
      checkOut(options);
      const { day, missing, failed, all, late, ...others } = options;
      const from = requireDay('replay', argument, { ...(day !== undefined && { day }) });
      const mode = readRangeMode({ missing, failed, all, late }, others);
      const read = { ...others, ...(mode !== undefined && { mode }) };
      finish(await handlers.replay(from, read, readGlobals(command)));
    });
}

interface CancelOptions extends DayOption {
  readonly reason: string;
}

type ReplayFlags = Omit<ReplayOptions, 'mode'> & ModeFlags & DayOption;

const acceptVolume = 'accept far fewer bookings than usual: send the day, or call it good if it was sent';

function deliveryOption(): Option {
  return new Option('--delivery <how>', 'how to reach the service (default: as configured)').choices([
    'body',
    'file',
  ]);
}

function readReason(text: string): string {
  const reason = text.trim();
  if (reason === '') throw new InvalidArgumentError('expected some text');
  return reason;
}

function checkOut({ dryRun, out }: DryRunOptions): void {
  if (out !== undefined && !dryRun) throw new InvalidArgumentError('--out requires --dry-run');
}

const runExamples = `
Examples:
  hotel-review run                review yesterday, or resume it
  hotel-review run 2026-11-20     review that day, or resume it
  hotel-review run today          review what has been booked today so far
  hotel-review run 2026-11-20 --accept-volume
                                  that day really has so few bookings
  hotel-review run --day 2026-11-20 --dry-run
                                  what would be sent and rejected
  hotel-review run --day 2026-11-20 --dry-run --out out
                                  what would be sent, as files
  hotel-review run --detach       with Redis: workers do the rest, see \`status\``;

const cancelExamples = `
What was sent stays sent. To start the day again, use \`run\` or the end-of-day
hook; the schedule and its catch-up leave the day alone.

Example:
  hotel-review cancel 2026-11-20 --reason "wrong export"
                                  abandon that day's run
  hotel-review run 2026-11-20     review the day from the start`;

const replayExamples = `
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
                                  every day in a new run`;

/** The modes that were given. */
type ModeFlags = { readonly [mode in RangeMode]?: boolean | undefined };

const descriptions: { readonly [mode in RangeMode]: string } = {
  missing: 'only days that have no run',
  failed: 'only days whose run failed or was interrupted; resumes it',
  all: 'every day in a new run',
  late: 'late bookings: send only what no earlier run of the day delivered',
};

function addRangeModes(command: Command): Command {
  for (const mode of rangeModes) command.option(`--${mode}`, descriptions[mode]);
  return command;
}

/** The one mode that was given: a range needs one, and its reason. */
function readRangeMode(
  flags: ModeFlags,
  { to, reason, out, dryRun }: Omit<ReplayOptions, 'mode'>,
): RangeMode | undefined {
  const [mode, ...others] = rangeModes.filter((name) => flags[name]);
  if (others.length > 0)
    throw new InvalidArgumentError(
      `expected one of --${rangeModes.join(', --')}, got: --${[mode, ...others].join(' --')}`,
    );
  if (to !== undefined && mode === undefined)
    throw new InvalidArgumentError(`--to needs one of --${rangeModes.join(', --')}: which days of the range`);
  if (mode !== undefined && out !== undefined)
    throw new InvalidArgumentError(
      `--out writes what one day would send; with --${mode}, --dry-run only lists days`,
    );
  const isEveryDay = mode === 'all' || to !== undefined;
  if (isEveryDay && reason === undefined && !dryRun)
    throw new InvalidArgumentError(`${to === undefined ? '--all' : 'a range'} needs a reason: --reason TEXT`);
  return mode;
}
