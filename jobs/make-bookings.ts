import { pause } from '../src/async/abort.js';
import type { MakeBookingsOptions } from '../src/cli/commands/sandbox.js';
import { exitCode } from '../src/cli/exit-code.js';
import { bookDay } from '../src/sandbox/bookings/book-day.js';
import { cutDay, type DayCounts, renderDay } from '../src/sandbox/bookings/day-text.js';
import { formatOfName, NameTakenError, streamDay, writeDayFile } from '../src/sandbox/bookings/write-day.js';
import { createWorld } from '../src/sandbox/world/world.js';
import { formatCount } from '../src/text/format.js';
import { renderTable } from '../src/text/tables.js';
import { UsageError } from '../src/text/usage-error.js';
import { print } from '../src/text/visible.js';
import type { Terminal } from './terminal.js';

export type DayToMake = MakeBookingsOptions & {
  /** YYYY-MM-DD */
  readonly day: string;
};

/** System errors that the given name causes. */
const unusableNameCodes: readonly unknown[] = [
  'ENOENT',
  'ENOTDIR',
  'EACCES',
  'EPERM',
  'EROFS',
  'ENAMETOOLONG',
  'ELOOP',
  'EINVAL',
];

/**
 * `hotel-review sandbox bookings`: writes a made-up day to a file, or to standard output with a summary on standard error.
 *
 * @throws UsageError for invalid options, and for a file that exists or can't be created
 */
export async function makeBookings(options: DayToMake, terminal: Terminal): Promise<number> {
  const { day, seed, cutAfter, out } = options;
  const format = options.format ?? (out === undefined ? 'csv' : formatOfName(out));
  if (format === undefined)
    throw new UsageError(
      `--out ${out}: expected a name ending in .csv, .csv.gz, .ndjson or .ndjson.gz; or give --format`,
    );
  if (options.late !== undefined) await pause(options.late * 1_000, terminal.signal);
  const describe = (counts: DayCounts) => ({ day, seed, format, ...counts });
  try {
    const made = bookDay({ ...options, world: createWorld({ hotels: options.hotels }) });
    if (out !== undefined) {
      const report = {
        ...describe(
          await writeDayFile(terminal.locate(out), made, format, { signal: terminal.signal, cutAfter }),
        ),
        out,
      };
      terminal.answer(renderSummary(report, out), report);
      return exitCode.done;
    }
    const { stdout, stderr } = terminal.io;
    const text = cutDay(renderDay(made, format, terminal), cutAfter);
    const isWhole = await streamDay(text, stdout, terminal);
    if (isWhole) print(stderr, renderSummary(describe(text.counts()), 'standard output'));
    return exitCode.done;
  } catch (error) {
    throw toUsageError(error, out) ?? error;
  }
}

type DayReport = DayCounts & { readonly day: string };

function renderSummary(report: DayReport, where: string): string {
  const { day, records, bookings, duplicates, rejected, rejects, incomplete, wrongMappings } = report;
  const [example] = report.wrongReferences;
  const rows: readonly (readonly [string, number])[] = [
    ['bookings', bookings],
    ['duplicates', duplicates],
    ['rejected', rejected],
    ...rejects.map(({ reason, count }): [string, number] => [`  ${reason}`, count]),
    ['bookings that lack a field', incomplete],
    ["bookings that can't go into a review file", report.unfitForFile],
    ['wrong mappings', wrongMappings],
  ];
  return [
    `${where}: a made-up day of ${formatCount(records)} records for ${day}`,
    renderTable(rows.map(([name, count]) => [name, formatCount(count)])),
    ...(example === undefined ? [] : [`  the first wrong mapping is ${example}`]),
    '',
  ].join('\n');
}

function toUsageError(error: unknown, out: string | undefined): UsageError | undefined {
  if (error instanceof RangeError) return new UsageError(error.message);
  if (error instanceof NameTakenError)
    return new UsageError(`--out: ${out} already exists; choose a new name`);
  if (
    out !== undefined &&
    error instanceof Error &&
    'code' in error &&
    unusableNameCodes.includes(error.code)
  )
    return new UsageError(`--out: ${out} can't be written (${error.code}); choose another name`);
  return undefined;
}
