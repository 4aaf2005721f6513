import { type Command, Option } from 'commander';
import {
  addDay,
  type DayOption,
  type Finish,
  type GlobalOptions,
  readGlobals,
  takeDay,
  wholeNumber,
} from './options.js';

export interface WorkOptions {
  /** The port for health and metrics; without one they are not served. */
  readonly port?: number;
}

export interface ServeOptions {
  /** Overrides the configured one. */
  readonly port?: number;
}

export interface HookOptions extends DayOption {
  /** How many records the day's source should hold. */
  readonly expected?: number;
  /** The address of `serve`, without a path. */
  readonly url?: string;
  readonly with?: 'signature' | 'token';
}

/** The long-running commands, and `hook`, which tries one; each returns the exit code. */
export interface ServiceHandlers {
  work(options: WorkOptions, globals: GlobalOptions): Promise<number>;
  serve(options: ServeOptions, globals: GlobalOptions): Promise<number>;
  hook(options: HookOptions, globals: GlobalOptions): Promise<number>;
}

const anyCount = wholeNumber(0, 1_000_000_000);
const anyPort = wholeNumber(0, 65_535);

export function addServiceCommands(program: Command, handlers: ServiceHandlers, finish: Finish): void {
  program
    .command('work')
    .description('perform steps of any run from the queue on Redis, until stopped')
    .option('--port <port>', 'serve /healthz, /readyz and /metrics on this port', anyPort)
    .addHelpText('after', workExamples)
    .action(async (options: WorkOptions, command: Command) => {
      finish(await handlers.work(options, readGlobals(command)));
    });

  program
    .command('serve')
    .description('run the nightly schedule, answer the end-of-day hook, serve the desk')
    .option('--port <port>', 'listen on this port (default: as configured)', anyPort)
    .addHelpText('after', serveExamples)
    .action(async (options: ServeOptions, command: Command) => {
      finish(await handlers.serve(options, readGlobals(command)));
    });

  addDay(
    program
      .command('hook')
      .description('print a signed curl command that calls the end-of-day hook, to try it'),
  )
    .option(
      '--expected <count>',
      'how many records the day has; with any other number the run fails',
      anyCount,
    )
    .option('--url <url>', 'the address of serve (default: as configured)')
    .addOption(
      new Option('--with <how>', 'how to authenticate (default: signature)').choices(['signature', 'token']),
    )
    .addHelpText('after', hookExamples)
    .action(async (day: string | undefined, options: HookOptions, command: Command) => {
      finish(await handlers.hook({ ...options, ...takeDay(day, options) }, readGlobals(command)));
    });
}

const workExamples = `
Examples:
  hotel-review work               work until Ctrl-C; start as many as you like
  hotel-review work --port 9100   the same, with health and metrics`;

const serveExamples = `
Examples:
  hotel-review serve              on 127.0.0.1:8080, or as configured
  hotel-review serve --port 0     on a free port; the log says which`;

const hookExamples = `
Examples:
  hotel-review hook               print the command for yesterday
  hotel-review hook --day 2026-11-20 --url https://review.example.com | sh
                                  call it right away`;
