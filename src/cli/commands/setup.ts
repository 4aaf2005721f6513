import { type Command, Option } from 'commander';
import type { DeliveryKind } from '../../review/run.js';
import { type Finish, type GlobalOptions, readDay, readGlobals, wholeNumber } from './options.js';

/** What is known of the configuration before anybody is asked. There are no options for secrets. */
export interface InitOptions {
  readonly kind?: 'csv' | 'ndjson';
  readonly path?: string;
  readonly timezone?: string;
  readonly baseUrl?: string;
  readonly delivery?: DeliveryKind;
  readonly sftpHost?: string;
  readonly sftpPort?: number;
  readonly sftpUsername?: string;
  readonly sftpKeyFile?: string;
  /** Ask nothing. */
  readonly yes: boolean;
}

export interface DoctorOptions {
  readonly day?: string;
}

/** What sets the job up; each answers the exit code. */
export interface SetupHandlers {
  init(options: InitOptions, globals: GlobalOptions): Promise<number>;
  doctor(options: DoctorOptions, globals: GlobalOptions): Promise<number>;
}

export function addSetupCommands(program: Command, handlers: SetupHandlers, finish: Finish): void {
  program
    .command('init')
    .description('write a commented configuration and a .env for its secrets; asks what it needs to know')
    .addOption(new Option('--kind <kind>', "what a day's file of bookings is").choices(['csv', 'ndjson']))
    .option('--path <path>', "a day's file, {day} standing for the day: exports/bookings-{day}.csv")
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
    .option('--sftp-username <name>', 'the user name there')
    .option('--sftp-key-file <path>', 'the private key to log in with; without it a password')
    .option('--yes', 'ask nothing: what no option gives is left to its default or to be filled in', false)
    .addHelpText('after', initExamples)
    .action(async (options: InitOptions, command: Command) => {
      finish(await handlers.init(options, readGlobals(command)));
    });

  program
    .command('doctor')
    .description('try the configuration, the source, the service, SFTP and the disk; say what to mend')
    .option('--day <day>', 'the day whose bookings are looked at (default: yesterday)', readDay)
    .addHelpText('after', doctorExamples)
    .action(async (options: DoctorOptions, command: Command) => {
      finish(await handlers.doctor(options, readGlobals(command)));
    });
}

const initExamples = `
Examples:
  hotel-review init                                        asks on a terminal
  hotel-review init --yes --path "exports/{day}.csv"       asks nothing
  hotel-review init --config staging.yaml --delivery file  delivery by SFTP`;

const doctorExamples = `
Nothing is sent for review: the service is called with an empty list of
bookings. On the SFTP server a small file is written and removed again.

Examples:
  hotel-review doctor                    yesterday's bookings are looked at
  hotel-review doctor --day 2026-11-20   that day's
  hotel-review doctor --json             {"ok": …, "findings": […]}

Exit code 2 when something is wrong.`;
