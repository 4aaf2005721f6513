import { InvalidArgumentError } from 'commander';
import { print } from '../src/base/foreign-text.js';
import { formatCount } from '../src/base/format.js';
import { renderTable } from '../src/base/tables.js';
import { UsageError } from '../src/base/usage-error.js';
import { type DayCounts, renderDay } from '../src/sandbox/bookings/day-text.js';
import { formatOfName, NameTakenError, streamDay, writeDayFile } from '../src/sandbox/bookings/write-day.js';
import { createWorld } from '../src/sandbox/world/world.js';
import { writeFlag } from '../src/sources/common/setup.js';
import { bareCommand, choice, numberUpTo, option, optionalDay, wholeNumber } from './command.js';
import { readDayIn } from './days.js';
import { exitCode } from './exit-code.js';

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

export const anySeed = wholeNumber(0, 2 ** 32 - 1);

export const hotels = option(
  '--hotels <hotels>',
  'the number of hotels; there are about 3.6 times as many mappings',
  wholeNumber(2, 1_000_000),
  2_000,
);

/** Writes a made-up day to a file, or to standard output with a summary on standard error. */
export default bareCommand({
  summary: "generate a day of bookings for the sandbox's hotels, some of them wrongly mapped",
  day: optionalDay('default: yesterday, in UTC'),
  options: {
    count: option('--count <records>', 'how many records', wholeNumber(0, 100_000_000), 1_000),
    seed: option('--seed <seed>', 'the same seed makes the same day', anySeed, 1),
    hotels,
    wrongShare: option('--wrong-share <share>', 'the share of wrongly mapped bookings', numberUpTo(1), 0.02),
    format: choice('--format <format>', 'the format (default: by the name of --out, else csv)', [
      'csv',
      'ndjson',
    ]),
    out: option(
      '--out <file>',
      'write to this file (.csv, .ndjson, each also .gz) instead of standard output',
    ),
  },
  examples: `
Examples:
  hotel-review sandbox bookings --day 2026-11-20 --count 20 --seed 7
  hotel-review sandbox bookings --count 1000000 --out bookings.ndjson.gz`,

  read(given, { globals, outer }) {
    for (const name of Object.keys(outer))
      if (!shared.includes(name)) throw new InvalidArgumentError(`unknown option '${writeFlag(name)}'`);
    if (globals.json && given.out === undefined)
      throw new InvalidArgumentError('--json requires --out: without it, standard output holds the bookings');
    return { ...given, ...outer };
  },

  async run(bare, { day: written, ...options }) {
    const { seed, out } = options;
    const { signal } = bare;
    const day = readDayIn('UTC', written).iso;
    const format = options.format ?? (out === undefined ? 'csv' : formatOfName(out));
    if (format === undefined)
      throw new UsageError(
        `--out ${out}: expected a name ending in .csv, .csv.gz, .ndjson or .ndjson.gz; or give --format`,
      );
    try {
      const made = { ...options, day, world: createWorld({ hotels: options.hotels }) };
      if (out !== undefined) {
        const counts = await writeDayFile(bare.locate(out), made, format, { signal });
        return bare.answer(renderSummary(day, counts, out), { day, seed, format, ...counts, out });
      }
      const { stdout, stderr } = bare.io;
      const text = renderDay(made, format, { signal });
      const isWhole = await streamDay(text, stdout, { signal });
      if (isWhole) print(stderr, renderSummary(day, text.counts(), 'standard output'));
      return exitCode.done;
    } catch (error) {
      throw toUsageError(error, out) ?? error;
    }
  },
});

/** Commander assigns these to `sandbox`, which has them, too. */
const shared = ['seed', 'hotels'];

function renderSummary(day: string, counts: DayCounts, where: string): string {
  const { records, bookings, duplicates, rejected, rejects, incomplete, wrongMappings } = counts;
  const [example] = counts.wrongReferences;
  const rows: readonly (readonly [string, number])[] = [
    ['bookings', bookings],
    ['duplicates', duplicates],
    ['rejected', rejected],
    ...rejects.map(({ reason, count }): [string, number] => [`  ${reason}`, count]),
    ['bookings that lack a field', incomplete],
    ["bookings that can't go into a review file", counts.unfitForFile],
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
