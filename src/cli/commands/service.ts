import type { Command } from 'commander';
import { type Finish, type GlobalOptions, readGlobals, wholeNumber } from './options.js';

export interface WorkOptions {
  /** The port for health and metrics; without one they are not served. */
  readonly port?: number;
}

export interface ServeOptions {
  /** Overrides the configured one. */
  readonly port?: number;
}

/** The long-running commands; each returns the exit code. */
export interface ServiceHandlers {
  work(options: WorkOptions, globals: GlobalOptions): Promise<number>;
  serve(options: ServeOptions, globals: GlobalOptions): Promise<number>;
}

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
}

const workExamples = `
Examples:
  hotel-review work               work until Ctrl-C; start as many as you like
  hotel-review work --port 9100   the same, with health and metrics`;

const serveExamples = `
Examples:
  hotel-review serve              on 127.0.0.1:8080, or as configured
  hotel-review serve --port 0     on a free port; the log says which`;
