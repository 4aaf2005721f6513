import { resolve } from 'node:path';
import type { GlobalOptions } from '../src/cli/commands/options.js';
import { exitCode } from '../src/cli/exit-code.js';
import type { HeartbeatObserver } from '../src/cli/heartbeat-observer.js';
import { openLog } from '../src/cli/log.js';
import type { Reports } from '../src/cli/reports.js';
import { type Config, loadConfig } from '../src/config/load.js';
import { UsageError } from '../src/review/refusals.js';
import { completeCommands } from '../src/text/shell.js';
import { print } from '../src/text/visible.js';
import type { HeartbeatParts } from './heartbeat.js';
import type { CommandIo } from './process.js';
import { createTerminal, type Terminal } from './terminal.js';

/** How much longer than `workers.stopSeconds` a command may take to stop. */
const lastResortMs = 5_000;

/** The running command: its process, and what it prints for programs. */
export interface Command {
  readonly io: CommandIo;
  readonly reports: Reports;
}

type Job = (terminal: Terminal) => Promise<number>;
type ConfiguredJob = (config: Config, terminal: Terminal) => Promise<number>;

/** @param settings what the heartbeat needs; none for a command without a configuration */
export async function withTerminal(
  { config, logLevel, stackTrace }: GlobalOptions,
  { io, reports }: Command,
  job: Job,
  settings?: Config,
): Promise<number> {
  io.signal.throwIfAborted();
  refuseUnverifiedTls(io.env);
  const log = logLevel && (await openLog(logLevel, io.stderr));
  const warn = (message: string) =>
    log ? log.warn(message) : void print(io.stderr, `warning: ${message}\n`);
  const heartbeat = settings && (await loadHeartbeat(settings, { warn, stop: io.signal }));
  const terminal = createTerminal({ config, reports, log, heartbeat, showsModuleErrors: stackTrace, io });
  try {
    return await job(terminal);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(completeCommands(error.message, terminal.command));
  } finally {
    terminal.endProgress();
    // A call in flight, which nothing else waits for.
    await heartbeat?.close();
  }
}

async function loadHeartbeat(config: Config, parts: HeartbeatParts): Promise<HeartbeatObserver | undefined> {
  return config.heartbeat && (await import('./heartbeat.js')).openHeartbeat(config, config.heartbeat, parts);
}

/** Node would accept any certificate, and send the API key to whoever answers. */
function refuseUnverifiedTls(env: NodeJS.ProcessEnv): void {
  if (env.NODE_TLS_REJECT_UNAUTHORIZED !== '0') return;
  throw new UsageError(
    'NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment turns off the verification of all certificates; unset it, and name ' +
      'the file of an authority that you trust besides the usual ones in NODE_EXTRA_CA_CERTS instead',
  );
}

export async function withConfig(
  globals: GlobalOptions,
  command: Command,
  job: ConfiguredJob,
): Promise<number> {
  const { io } = command;
  refuseUnverifiedTls(io.env);
  const config = await loadConfig({ file: resolve(io.cwd, globals.config), env: io.env });
  const work: Job = (terminal) => stopInTime(job(config, terminal), config, command);
  return withTerminal(globals, command, work, config);
}

/** Fails if a stop takes too long: a ledger or a queue that does not answer must not delay the exit. */
async function stopInTime(
  work: Promise<number>,
  { workers: { stopSeconds } }: Config,
  { io: { signal, stderr }, reports }: Command,
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
