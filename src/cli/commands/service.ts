import { type Command, Option } from 'commander';
import { type Finish, type GlobalOptions, readDay, readGlobals, wholeNumber } from './options.js';

export interface WorkOptions {
  /** Where health and metrics are served; nowhere if not given. */
  readonly port?: number;
}

export interface ServeOptions {
  /** Instead of the configured one. */
  readonly port?: number;
}

export interface HookOptions {
  /** Yesterday if not given. */
  readonly day?: string;
  /** The address of `serve`, without a path. */
  readonly url?: string;
  readonly with?: 'signature' | 'token';
}

/** What stays and works, and what tries it; each answers the exit code. */
export interface ServiceHandlers {
  work(options: WorkOptions, globals: GlobalOptions): Promise<number>;
  serve(options: ServeOptions, globals: GlobalOptions): Promise<number>;
  hook(options: HookOptions, globals: GlobalOptions): Promise<number>;
}

const anyPort = wholeNumber(0, 65_535);

export function addServiceCommands(program: Command, handlers: ServiceHandlers, finish: Finish): void {
  program
    .command('work')
    .description('take steps from the queue on Redis, of any run, until it is stopped')
    .option('--port <port>', 'serve /healthz, /readyz and /metrics there', anyPort)
    .addHelpText('after', workExamples)
    .action(async (options: WorkOptions, command: Command) => {
      finish(await handlers.work(options, readGlobals(command)));
    });

  program
    .command('serve')
    .description('keep the nightly schedule, answer the end-of-day hook, show how things stand')
    .option('--port <port>', 'listen there (default: as configured)', anyPort)
    .addHelpText('after', serveExamples)
    .action(async (options: ServeOptions, command: Command) => {
      finish(await handlers.serve(options, readGlobals(command)));
    });

  program
    .command('hook')
    .description('print a signed curl command that calls the end-of-day hook, for trying it')
    .option('--day <day>', 'the business day as YYYY-MM-DD (default: yesterday)', readDay)
    .option('--url <url>', 'the address of serve (default: as configured)')
    .addOption(
      new Option('--with <how>', 'how to prove who calls (default: whichever is configured)').choices([
        'signature',
        'token',
      ]),
    )
    .addHelpText('after', hookExamples)
    .action(async (options: HookOptions, command: Command) => {
      finish(await handlers.hook(options, readGlobals(command)));
    });
}

const workExamples = `
Examples:
  hotel-review work               work until SIGTERM or Ctrl-C; start as many as you like
  hotel-review work --port 9100   the same, with health and metrics`;

const serveExamples = `
Examples:
  hotel-review serve              on 127.0.0.1:8080, or as configured
  hotel-review serve --port 0     on a free port; the log says which`;

const hookExamples = `
Examples:
  hotel-review hook               print the command for yesterday
  hotel-review hook --day 2026-11-20 --url https://review.example.com | sh
                                  call it at once`;
