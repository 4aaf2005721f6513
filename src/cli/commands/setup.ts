import { type Command, Option } from 'commander';
import type { InitOptions } from '../../setup/options.js';
import { type Finish, type GlobalOptions, readDay, readGlobals, wholeNumber } from './options.js';

export interface DoctorOptions {
  readonly day?: string;
}

/** The commands that set up and check an installation; each returns the exit code. */
export interface SetupHandlers {
  init(options: InitOptions, globals: GlobalOptions): Promise<number>;
  doctor(options: DoctorOptions, globals: GlobalOptions): Promise<number>;
}

export function addSetupCommands(program: Command, handlers: SetupHandlers, finish: Finish): void {
  program
    .command('init')
    .description('write a commented configuration and a .env for its secrets, asking what it needs')
    .addOption(
      new Option('--kind <kind>', 'the kind of source: a file per day, a database, an API, own code').choices(
        ['csv', 'ndjson', 'sql', 'http', 'module'],
      ),
    )
    .option(
      '--path <path>',
      "a day's file, with {day} for the day; also s3://…, sftp://…; or the module's file",
    )
    .option('--day <day>', 'the day to read (default: that of the newest file, or yesterday)', readDay)
    .option('--url <url>', "sql: the database's address, without a password; http: the API's")
    .option('--query <text>', 'sql: the query, with :day or :dayStart and :dayEnd')
    .option('--query-file <path>', 'sql: the file that holds it')
    .addOption(
      new Option('--auth <how>', 'http: how to authenticate').choices(['none', 'bearer', 'basic', 'header']),
    )
    .option('--auth-name <name>', 'http: the user name (basic), or the name of the header (header)')
    .option('--records <path>', 'http: where a response holds its list of bookings: data.bookings')
    .addOption(
      new Option('--pagination <how>', 'http: how the API paginates').choices([
        'none',
        'page',
        'offset',
        'cursor',
        'link',
      ]),
    )
    .option('--page-parameter <name>', 'http: the parameter that selects the page')
    .addOption(new Option('--first-page <number>', 'http: the number of the first page').choices(['0', '1']))
    .option('--page-size-parameter <name>', 'http: the parameter for the page size')
    .option('--page-size <number>', 'http: the page size', wholeNumber(1, 1_000_000))
    .option('--cursor-field <path>', 'http: the field that holds the next cursor: meta.next')
    .option('--s3-endpoint <url>', "s3://: the server, if not Amazon's")
    .option('--s3-region <region>', 's3://: the region')
    .option('--source-sftp-username <name>', 'sftp://: the user name')
    .option('--source-sftp-key-file <path>', 'sftp://: the private key; without one a password is used')
    .option('--source-sftp-host-key <fingerprint>', "sftp://: the server's host key, SHA256:…")
    .option('--timezone <zone>', "the account's time zone, such as Europe/Madrid")
    .option('--base-url <url>', 'the address of the mapping service, with its version')
    .addOption(
      new Option('--delivery <how>', 'how bookings reach the service (default: body)').choices([
        'body',
        'file',
      ]),
    )
    .option('--sftp-host <host>', 'for delivery by file: the SFTP server')
    .option('--sftp-port <port>', 'its port', wholeNumber(1, 65_535))
    .option('--sftp-username <name>', 'its user name')
    .option('--sftp-key-file <path>', 'its private key; without one a password is used')
    .option('--yes', 'ask nothing: what no option sets gets its default or is left to fill in', false)
    .addHelpText('after', initExamples)
    .action(async (options: InitOptions, command: Command) => {
      finish(await handlers.init(options, readGlobals(command)));
    });

  program
    .command('doctor')
    .description('check the configuration, the source, the service, SFTP and the disk; say what to fix')
    .option('--day <day>', 'the day whose bookings are checked (default: yesterday)', readDay)
    .addHelpText('after', doctorExamples)
    .action(async (options: DoctorOptions, command: Command) => {
      finish(await handlers.doctor(options, readGlobals(command)));
    });
}

const initExamples = `
Up to five bookings of the day are read and shown as they were understood, with
names masked. Nothing is sent, and no file is overwritten.

There are no options for secrets: others on this machine could read them. On a
terminal init asks for them; or put them into the environment or into .env:
  HOTEL_REVIEW_SOURCE_URL       the address of the database, with its password
  HOTEL_REVIEW_SOURCE_TOKEN     --auth bearer
  HOTEL_REVIEW_SOURCE_PASSWORD  --auth basic; the password of sftp://
  HOTEL_REVIEW_SOURCE_KEY       --auth header
  HOTEL_REVIEW_S3_KEY_ID, HOTEL_REVIEW_S3_SECRET
                                s3://; without them as Amazon's own tools do

Examples:
  hotel-review init                                        asks on a terminal
  hotel-review init --yes --path "exports/{day}.csv"       asks nothing
  hotel-review init --config staging.yaml --delivery file  delivery by SFTP
  hotel-review init --path "s3://agency/{day}.csv.gz" --s3-region eu-central-1
  hotel-review init --path "sftp://drop.example.com/out/{day}.ndjson" \\
    --kind ndjson --source-sftp-username agency --source-sftp-key-file keys/drop
  hotel-review init --kind sql --query-file bookings.sql
  hotel-review init --kind sql --url sqlite:bookings.db \\
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
  hotel-review doctor --day 2026-11-20   with those of that day
  hotel-review doctor --json             {"ok": …, "findings": […]}

Exit code 2 when something is wrong.`;
