import { resolve } from 'node:path';
import { print } from '../src/base/foreign-text.js';
import { UsageError } from '../src/base/safe-error.js';
import { completeCommands } from '../src/base/shell.js';
import { type Config, loadConfig } from '../src/config/load.js';
import { openLog } from '../src/notify/events.js';
import { type AnyCommand, type GlobalOptions, resolveDays } from './command.js';
import { exitCode } from './exit-code.js';
import { describeFailure, stackFrames } from './failure.js';
import { build, type CommandIo } from './process.js';
import { readCommandLine } from './program.js';
import { createReports, createTerminal, type Reports, type Terminal } from './terminal.js';

/** The reason that `io.signal` aborts with. */
export { StoppedError } from '../src/base/safe-error.js';

/**
 * The command `hotel-review` as a function: it reads the command line, does the job, and returns the exit code. Importing
 * it has no effects, and it uses nothing of the process except what `io` holds.
 */
export async function main(argv: readonly string[], io: CommandIo): Promise<number> {
  const { stdout, stderr, halted } = io;
  const reports = createReports(stdout, argv.includes('--json'));
  const halt = () =>
    reports.fail({ class: 'stopped', message: 'stopped at once; the ledger knows what is left' });
  halted.addEventListener('abort', halt, { once: true });
  try {
    const running = { io, reports };
    const output = {
      writeOut: (text: string) => void print(stdout, text),
      writeErr: (text: string) => void print(stderr, text),
    };
    const typed = await readCommandLine(argv, build, output);
    if (typed === undefined) return await withLostOutput(exitCode.done, io, false);
    const { command, input, globals } = typed;
    const code = await execute(command, input, globals, running);
    const onlyTells = command.logs === true || (!reports.isJson && command.tells?.(input as never) === true);
    return await withLostOutput(code, io, onlyTells);
  } catch (error) {
    const failure = describeFailure(error);
    // Whoever works on the day says how it went.
    const isUntold = failure.exitCode === exitCode.busy && argv.includes('--quiet');
    if (!isUntold) print(stderr, `hotel-review: ${failure.message}\n`);
    if (argv.includes('--stack-trace')) print(stderr, `${stackFrames(error)}\n`);
    reports.fail(failure);
    return failure.exitCode;
  } finally {
    halted.removeEventListener('abort', halt);
  }
}

/** An answer that could not be written must not pass for one. Work that was done stays done. */
async function withLostOutput(
  code: number,
  { findLostOutput, stderr }: CommandIo,
  onlyTells: boolean,
): Promise<number> {
  const reason = await findLostOutput();
  if (reason === undefined) return code;
  print(stderr, `hotel-review: standard output can't be written (${reason}), so some of it is lost\n`);
  return onlyTells || code !== exitCode.done ? code : exitCode.failed;
}

/** How much longer than `workers.stopSeconds` a command may take to stop. */
const lastResortMs = 5_000;

/** The running process: what it was started with, and what it prints for programs. */
export interface Running {
  readonly io: CommandIo;
  readonly reports: Reports;
}

/** Performs a command and returns its exit code. */
export function execute(
  command: AnyCommand,
  input: object,
  given: GlobalOptions,
  running: Running,
): Promise<number> {
  const { run, around, logs = false } = command;
  if (!run) throw new Error('a command that only has commands below it is never performed');
  const globals = logs ? { ...given, logLevel: given.logLevel ?? 'info' } : given;
  const perform = (note?: (config: Config) => void): Promise<number> =>
    withTerminal(globals, running, async (terminal) => {
      switch (run.needs) {
        case 'nothing':
          return run.perform({ ...terminal, globals }, input as never);
        case 'configuration': {
          const { cwd, env, script } = running.io;
          const config = await loadConfig({ file: resolve(cwd, globals.config), env, script });
          note?.(config);
          const { log } = terminal;
          const own = logs ? { ...terminal, warn: (line: string) => log.warn(line) } : terminal;
          // Not loaded for help, nor for commands without a configuration.
          const work = import('./app.js').then(({ withApp }) =>
            withApp(config, own, (app) =>
              run.perform(app, resolveDays(command, input, config.timezone) as never),
            ),
          );
          return stopInTime(work, config, running);
        }
      }
    });
  return around ? around(input as never, running.io, perform) : perform();
}

async function withTerminal(
  { config, logLevel, stackTrace }: GlobalOptions,
  { io, reports }: Running,
  job: (terminal: Terminal) => Promise<number>,
): Promise<number> {
  io.signal.throwIfAborted();
  refuseUnverifiedTls(io.env);
  const log = logLevel && (await openLog(logLevel, io.stderr, io.worker));
  const terminal = createTerminal({ config, reports, log, showsModuleErrors: stackTrace, io });
  try {
    return await job(terminal);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(completeCommands(error.message, terminal.command));
  } finally {
    terminal.endProgress();
  }
}

/** Node would accept any certificate, and send the API key to whoever answers. */
function refuseUnverifiedTls(env: NodeJS.ProcessEnv): void {
  if (env.NODE_TLS_REJECT_UNAUTHORIZED !== '0') return;
  throw new UsageError(
    'NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment turns off the verification of all certificates; unset it, and name ' +
      'the file of an authority that you trust besides the usual ones in NODE_EXTRA_CA_CERTS instead',
  );
}

/** Fails if a stop takes too long: a ledger or a queue that does not answer must not delay the exit. */
async function stopInTime(
  work: Promise<number>,
  { workers: { stopSeconds } }: Config,
  { io: { signal, stderr }, reports }: Running,
): Promise<number> {
  let timer: NodeJS.Timeout | undefined;
  let startTimer = () => {};
  const overdue = new Promise<number>((settle) => {
    const giveUp = () => {
      const message = 'something did not stop in time and was abandoned; the ledger knows what is left';
      print(stderr, `hotel-review: ${message}\n`);
      reports.fail({ class: 'stopped', message });
      settle(exitCode.failed);
    };
    startTimer = () => {
      timer = setTimeout(giveUp, stopSeconds * 1000 + lastResortMs).unref();
    };
  });
  signal.addEventListener('abort', startTimer, { once: true });
  try {
    return await Promise.race([work, overdue]);
  } finally {
    signal.removeEventListener('abort', startTimer);
    clearTimeout(timer);
  }
}
