import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  addDay,
  type DayOption,
  type Finish,
  type GlobalOptions,
  numberUpTo,
  readGlobals,
  takeDay,
  wholeNumber,
} from './options.js';

export interface SandboxOptions {
  /** The folder for its files; defaults to a new temporary folder. */
  readonly folder?: string;
  /** The name or address under which others reach it. */
  readonly host: string;
  readonly port: number;
  readonly sftpPort: number;
  /** Files in PEM; both or neither. */
  readonly tlsCertificate?: string;
  readonly tlsKey?: string;
  readonly hotels: number;
  /** Made when it starts. */
  readonly changes: number;
  readonly seed: number;
  /** As written, for example `status:503@10%`. */
  readonly fault: readonly string[];
  readonly errorShape: 'envelope' | 'code-message';
  /** In seconds. */
  readonly resultDelay: number;
  /** The form of the e-mails about reviews. */
  readonly emailForm: 'list' | 'table' | 'csv' | 'turns';
  readonly resumeKeyDays: number;
  readonly lastPageKey: 'null' | 'fresh' | 'refused';
  /** The most mappings that a page may have. */
  readonly maxLimit: number;
  readonly emptyCells: 'refuse' | 'accept';
  /** Below the SFTP root; empty for the root itself. */
  readonly exportFolder: string;
  readonly masterIdName: string;
  readonly masterIdColumn: string;
}

export interface MakeBookingsOptions extends DayOption {
  readonly count: number;
  readonly seed: number;
  readonly hotels: number;
  readonly wrongShare: number;
  /** The share of bookings that are new versions of earlier days' bookings. */
  readonly newVersions: number;
  readonly format?: 'csv' | 'ndjson';
  /** In bytes before compression; the rest of the file is missing. */
  readonly cutAfter?: number;
  /** In seconds, before the file appears. */
  readonly late?: number;
  /** Defaults to standard output. */
  readonly out?: string;
}

/** The commands of the service's stand-in; each returns the exit code. */
export interface SandboxHandlers {
  sandbox(options: SandboxOptions, globals: GlobalOptions): Promise<number>;
  makeBookings(options: MakeBookingsOptions, globals: GlobalOptions): Promise<number>;
}

const anySeed = wholeNumber(0, 2 ** 32 - 1);
const hourInSeconds = 3_600;
const dayInSeconds = 86_400;
const yearInDays = 366;
const maxChanges = 100_000;
const maxHotels = 1_000_000;

export function addSandboxCommands(program: Command, handlers: SandboxHandlers, finish: Finish): void {
  const sandbox = program
    .command('sandbox')
    .description('run a stand-in for the mapping service on this machine: HTTP, SFTP and an e-mail outbox')
    .option('--folder <dir>', 'the folder for its files (default: a new temporary folder)')
    .option('--host <host>', 'the name or address under which others reach this machine', '127.0.0.1')
    .option('--port <port>', 'the port of the service; 0 picks a free one', wholeNumber(0, 65_535), 0)
    .option('--sftp-port <port>', 'the port of the SFTP server', wholeNumber(0, 65_535), 0)
    .option(
      '--tls-certificate <file>',
      'serve https with this certificate; required unless --host is loopback',
    )
    .option('--tls-key <file>', 'its private key')
    .addOption(hotelsOption())
    .option(
      '--changes <changes>',
      'change so many mappings now, after those that a sync has seen already',
      wholeNumber(0, maxChanges),
      0,
    )
    .option('--seed <seed>', 'decides which calls are hit by faults with a rate', anySeed, 1)
    .option(
      '--fault <rule>',
      'a fault and when: status:503@10%, by-file/hang@3, result-late:30@1-2; repeatable',
      (rule: string, before: readonly string[]) => [...before, rule],
      [],
    )
    .addOption(
      new Option('--error-shape <shape>', 'the shape of error responses')
        .choices(['envelope', 'code-message'])
        .default('envelope'),
    )
    .option(
      '--result-delay <seconds>',
      'how long after the call a result or an export appears',
      numberUpTo(hourInSeconds),
      2,
    )
    .addOption(
      new Option(
        '--email-form <form>',
        'the form of the e-mails about reviews: a list in plain text, an HTML table, an attached CSV file, or these in turn',
      )
        .choices(['list', 'table', 'csv', 'turns'])
        .default('list'),
    )
    .option('--resume-key-days <days>', 'how long a resume key is valid', numberUpTo(yearInDays), 14)
    .addOption(
      new Option(
        '--last-page-key <key>',
        'the resume key of the last page of mappings: null, a fresh one (empty pages follow without end), or a refused one',
      )
        .choices(['null', 'fresh', 'refused'])
        .default('null'),
    )
    .option(
      '--max-limit <mappings>',
      'the largest number of mappings per page',
      wholeNumber(1, 1_000_000),
      1_000,
    )
    .addOption(
      new Option('--empty-cells <reading>', 'whether a review file may leave optional cells empty')
        .choices(['refuse', 'accept'])
        .default('refuse'),
    )
    .option(
      '--export-folder <path>',
      'the folder below the SFTP root for exports (default: the root itself)',
      '',
    )
    .option('--master-id-name <name>', "the master hotel id's name in JSON", 'ServiceId')
    .option('--master-id-column <name>', "the master hotel id's column in the file", 'Service Mappings Id')
    .addHelpText('after', sandboxExamples)
    .action(async (options: SandboxOptions, command: Command) => {
      finish(await handlers.sandbox(options, readGlobals(command)));
    });

  addDay(
    sandbox
      .command('bookings')
      .description("generate a day of bookings for the sandbox's hotels, some of them wrongly mapped"),
    'default: yesterday, in UTC',
  )
    .option('--count <records>', 'how many records', wholeNumber(0, 100_000_000), 1_000)
    .option('--seed <seed>', 'the same seed makes the same day', anySeed, 1)
    .addOption(hotelsOption())
    .option('--wrong-share <share>', 'the share of wrongly mapped bookings', numberUpTo(1), 0.02)
    .option(
      '--new-versions <share>',
      'the share of records that change or repeat bookings of the preceding seven days',
      numberUpTo(1),
      0,
    )
    .addOption(
      new Option('--format <format>', 'the format (default: by the name of --out, else csv)').choices([
        'csv',
        'ndjson',
      ]),
    )
    .option(
      '--cut-after <bytes>',
      'stop after this many bytes, like an export that was cut off',
      wholeNumber(0, Number.MAX_SAFE_INTEGER),
    )
    .option('--late <seconds>', 'wait this long before writing', numberUpTo(dayInSeconds))
    .option('--out <file>', 'write to this file (.csv, .ndjson, each also .gz) instead of standard output')
    .addHelpText('after', bookingsExamples)
    .action(async (day: string | undefined, options: MakeBookingsOptions, command: Command) => {
      const chosen = { ...options, ...takeDay(day, options), ...readShared(command) };
      const globals = readGlobals(command);
      if (globals.json && options.out === undefined)
        throw new InvalidArgumentError(
          '--json requires --out: without it, standard output holds the bookings',
        );
      finish(await handlers.makeBookings(chosen, globals));
    });
}

const sharedOptions: readonly string[] = ['seed', 'hotels'];

/**
 * Options after `sandbox bookings` that `sandbox` has, too: commander assigns them to the outer command.
 * One that only `sandbox` has is refused.
 */
function readShared(bookings: Command): Partial<MakeBookingsOptions> {
  const { parent: sandbox } = bookings;
  const given = Object.entries(sandbox?.opts() ?? {}).filter(
    ([name]) => sandbox?.getOptionValueSource(name) === 'cli',
  );
  for (const [name] of given) {
    if (sharedOptions.includes(name)) continue;
    const option = sandbox?.options.find((one) => one.attributeName() === name)?.long ?? name;
    throw new InvalidArgumentError(`unknown option '${option}'`);
  }
  return Object.fromEntries(given);
}

function hotelsOption(): Option {
  return new Option('--hotels <hotels>', 'the number of hotels; there are about 3.6 times as many mappings')
    .argParser(wholeNumber(2, maxHotels))
    .default(2_000);
}

const sandboxExamples = `
It prints its addresses and writes a matching configuration into its folder.
Ctrl-C stops it.

Examples:
  hotel-review sandbox --folder sandbox --port 8080 --sftp-port 2222
  hotel-review sandbox --fault status:503@10% --fault hang@3
                                  a tenth of the calls fail, the third hangs
  hotel-review sandbox --folder sandbox --changes 20
                                  twenty changes since the last sync
  hotel-review sandbox bookings --count 20000 --out bookings.csv
                                  a day of bookings for it`;

const bookingsExamples = `
Examples:
  hotel-review sandbox bookings --day 2026-11-20 --count 20 --seed 7
  hotel-review sandbox bookings --count 1000000 --out bookings.ndjson.gz
  hotel-review sandbox bookings --new-versions 0.05
                                  some change or repeat earlier days' bookings`;
