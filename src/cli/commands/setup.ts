import { type Command, Option } from 'commander';
import type { InitOptions } from '../../setup/options.js';
import type { SourceKind } from '../../sources/common/kind.js';
import { writeFlag } from '../../sources/common/setup.js';
import type { SourceSettings } from '../../sources/registry.js';
import {
  addDay,
  type DayOption,
  type Finish,
  type GlobalOptions,
  readDay,
  readGlobals,
  takeDay,
  wholeNumber,
} from './options.js';

/** The commands that set up and check an installation; each returns the exit code. */
export interface SetupHandlers {
  init(options: InitOptions, globals: GlobalOptions): Promise<number>;
  doctor(options: DayOption, globals: GlobalOptions): Promise<number>;
}

export function addSetupCommands(program: Command, handlers: SetupHandlers, finish: Finish): void {
  program
    .command('init')
    .description('ask a few questions, and write a commented configuration and a .env for its secrets')
    .addHelpText('after', initExamples)
    .action(async (options: InitOptions, command: Command) => {
      finish(await handlers.init(options, readGlobals(command)));
    });

  addDay(
    program
      .command('doctor')
      .description('check configuration, source, service, SFTP and disk, and say what to fix'),
    'whose bookings are checked; default: yesterday',
  )
    .addHelpText('after', doctorExamples)
    .action(async (day: string | undefined, option: DayOption, command: Command) => {
      finish(await handlers.doctor(takeDay(day, option), readGlobals(command)));
    });
}

/** Gives `init` the options of all kinds of sources. No other command must wait for these to load. */
export async function completeCommand(command: Command): Promise<void> {
  if (command.name() === 'init')
    addInitOptions(command, (await import('../../sources/registry.js')).sourceKinds);
}

type KindOptions = Pick<SourceKind<SourceSettings>, 'name' | 'flags'>;

function addInitOptions(init: Command, kinds: readonly KindOptions[]): void {
  init.addOption(
    new Option(
      '--kind <kind>',
      'the kind of source: a file per day, a database, an API, your own code',
    ).choices(kinds.map(({ name }) => name)),
  );
  for (const name of new Set(kinds.flatMap(({ flags }) => Object.keys(flags)))) {
    init.addOption(createSourceOption(name, kinds));
  }
  init
    .option('--day <day>', 'the day to read (default: that of the newest file, or yesterday)', readDay)
    .option('--timezone <zone>', "the account's time zone, such as Europe/Madrid")
    .option('--base-url <url>', 'the address of the mapping service, with its version')
    .addOption(
      new Option('--delivery <how>', 'how bookings reach the service (default: body)').choices([
        'body',
        'file',
      ]),
    )
    .option(
      '--usual-bookings <count>',
      'bookings of a usual day: fewer than half are too few',
      wholeNumber(1, 1_000_000_000),
    )
    .option('--sftp-host <host>', 'for delivery by file: the SFTP server')
    .option('--sftp-port <port>', 'its port', wholeNumber(1, 65_535))
    .option('--sftp-username <name>', 'its user name')
    .option('--sftp-key-file <path>', 'its private key; without one a password is used')
    .option('--yes', 'ask nothing: settings without an option get their default or a placeholder', false);
}

/** Kinds may share an option: the help says what it means for each. */
function createSourceOption(name: string, kinds: readonly KindOptions[]): Option {
  const kindsByHelp = new Map<string, string[]>();
  let [value, choices]: [string, readonly string[] | undefined] = ['', undefined];
  for (const { name: kind, flags } of kinds) {
    const flag = flags[name];
    if (flag === undefined) continue;
    kindsByHelp.set(flag.help, [...(kindsByHelp.get(flag.help) ?? []), kind]);
    ({ value, choices } = flag);
  }
  const help = [...kindsByHelp].map(([text, names]) => `${names.join(', ')}: ${text}`).join('; ');
  const option = new Option(`${writeFlag(name)} ${value}`, help);
  return choices === undefined ? option : option.choices(choices);
}

const initExamples = `
Up to five bookings of the day are read and shown as they were understood, with
names masked. Nothing is sent, and no file is overwritten.

There are no options for secrets: others on this machine could read them. On a
terminal, init asks for them; or put them into the environment or into .env:
  HOTEL_REVIEW_SOURCE_URL       the address of the database, with its password
  HOTEL_REVIEW_SOURCE_TOKEN     --auth bearer
  HOTEL_REVIEW_SOURCE_PASSWORD  the password of sftp://
  HOTEL_REVIEW_SOURCE_KEY       --auth header
  AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY
                                s3://; otherwise as Amazon's tools find them

Examples:
  hotel-review init                                        asks on a terminal
  hotel-review init --yes --path "exports/{day}.csv"       asks nothing
  hotel-review init --config staging.yaml --delivery file  delivery by SFTP
  hotel-review init --path "s3://agency/{day}.csv.gz" --s3-region eu-central-1
  hotel-review init --path "sftp://drop.example.com/out/{day}.ndjson" \\
    --kind ndjson --source-sftp-username agency --source-sftp-key-file keys/drop
  hotel-review init --kind sql --query-file bookings.sql
  hotel-review init --kind sql \\
    --query "SELECT * FROM bookings WHERE booked_on = :day"
  hotel-review init --auth bearer --records data.bookings --pagination cursor \\
    --cursor-field meta.next --page-parameter cursor \\
    --url "https://pms.example.com/v1/bookings?day={day}"
  hotel-review init --kind module --path bookings.mjs`;

const doctorExamples = `
Nothing is sent for review: the service is called with an empty list of
bookings. On the SFTP server a small file is written and then removed.

Examples:
  hotel-review doctor                    with yesterday's bookings
  hotel-review doctor 2026-11-20         with those of that day
  hotel-review doctor --json             {"ok": …, "findings": […]}

Exit code 2 when something is wrong.`;
