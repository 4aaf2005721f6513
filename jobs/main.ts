import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BusinessDay, businessDayAt, createBusinessDay } from '../src/booking/business-day.js';
import type { GlobalOptions } from '../src/cli/commands/options.js';
import { type Handlers, helpShown, runCommandLine } from '../src/cli/commands/program.js';
import { exitCode } from '../src/cli/exit-code.js';
import { describeFailure, stackFrames } from '../src/cli/failure.js';
import { openLog } from '../src/cli/log.js';
import { createReports, type Reports } from '../src/cli/reports.js';
import { type Config, loadConfig } from '../src/config/load.js';
import { ConfigurationError } from '../src/config/problems.js';
import { UsageError } from '../src/review/refusals.js';
import type { DeliveryKind } from '../src/review/run.js';
import { completeCommands } from '../src/text/shell.js';
import type { CommandIo } from './process.js';
import { createTerminal, type Terminal } from './terminal.js';
import { readVersion } from './version.js';

/** The reason that `io.signal` aborts with. */
export { StoppedError } from '../src/async/stopped-error.js';

/** How much longer than `workers.stopSeconds` a command may take to stop. */
const lastResortMs = 5_000;
/** It ships with the package. */
const schemaFile = fileURLToPath(new URL('../../hotel-review.schema.json', import.meta.url));

/**
 * The command `hotel-review` as a function: it reads the command line, does the job, and returns the exit code. Importing
 * it has no effects, and it uses nothing of the process but what `io` holds.
 */
export async function main(argv: readonly string[], io: CommandIo): Promise<number> {
  const { stdout, stderr, halted } = io;
  const reports = createReports(stdout, argv.includes('--json'));
  const halt = () =>
    reports.fail({ class: 'stopped', message: 'stopped at once; the ledger knows what is left' });
  halted.addEventListener('abort', halt, { once: true });
  try {
    const result = await runCommandLine(argv, readVersion(), createHandlers({ io, reports }), {
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
    });
    return result === helpShown ? exitCode.done : result;
  } catch (error) {
    const failure = describeFailure(error);
    stderr.write(`hotel-review: ${failure.message}\n`);
    if (argv.includes('--stack-trace')) stderr.write(`${stackFrames(error)}\n`);
    reports.fail(failure);
    return failure.exitCode;
  } finally {
    halted.removeEventListener('abort', halt);
  }
}

/** Each handler starts one job, and loads it only then. */
function createHandlers(command: Command): Handlers {
  return {
    run: ({ day, dryRun, out, delivery, detach, acceptVolume }, globals) =>
      withConfig(globals, command, async (configured, terminal) => {
        const config = withDelivery(configured, globals, delivery);
        const businessDay = readDayIn(config.timezone, day);
        if (dryRun) return (await import('./dry-run.js')).dryRunDay(config, businessDay, { out }, terminal);
        const { reviewDay } = await import('./review-day.js');
        return reviewDay(
          config,
          businessDay,
          { mode: 'run', trigger: 'manual', delivery, detach, acceptsVolume: acceptVolume },
          terminal,
        );
      }),
    cancel: (day, options, globals) =>
      withConfig(globals, command, async (config, terminal) => {
        const { cancelDay } = await import('./cancel-day.js');
        return cancelDay(config, readDayIn(config.timezone, day).iso, options, terminal);
      }),
    replay: (day, options, globals) =>
      withConfig(globals, command, async (config, terminal) => {
        const { replayDays } = await import('./replay-days.js');
        return replayDays(withDelivery(config, globals, options.delivery), day, options, terminal);
      }),
    status: (day, globals) =>
      withConfig(globals, command, async (config, terminal) =>
        (await import('./show-status.js')).showStatus(config, day, terminal),
      ),
    show: (reference, options, globals) =>
      withConfig(globals, command, async (config, terminal) => {
        const { showBooking } = await import('./show-booking.js');
        return showBooking(config, reference, options, terminal);
      }),
    affected: (day, options, globals) =>
      withConfig(globals, command, async (config, terminal) => {
        const { listAffected } = await import('./list-affected.js');
        return listAffected(config, day, options, yesterdayIn(config.timezone).iso, terminal);
      }),
    rejected: (day, options, globals) =>
      withConfig(globals, command, async (config, terminal) => {
        const { listRejected } = await import('./list-rejected.js');
        return listRejected(config, readDayIn(config.timezone, day).iso, options, terminal);
      }),
    suspects: (day, { csv, delimiter }, globals) =>
      withConfig(globals, command, async (config, terminal) => {
        const { listSuspects } = await import('./list-suspects.js');
        const options = { csv, delimiter, json: globals.json };
        return listSuspects(config, day ?? yesterdayIn(config.timezone).iso, options, terminal);
      }),
    verify: (day, globals) =>
      withConfig(globals, command, async (config, terminal) =>
        (await import('./verify-day.js')).verifyDay(config, day, terminal),
      ),
    audit: ({ from, to }, globals) =>
      withConfig(globals, command, async (config, terminal) => {
        const readBound = (day?: string) => (day === undefined ? undefined : readDayIn(config.timezone, day));
        const { showAudit } = await import('./show-audit.js');
        return showAudit(config, { from: readBound(from), to: readBound(to) }, terminal);
      }),
    exportGuest: (guest, globals) =>
      withConfig(globals, command, async (config, terminal) =>
        (await import('./export-guest.js')).exportOneGuest(config, guest, terminal),
      ),
    eraseGuest: (guest, options, globals) =>
      withConfig(globals, command, async (config, terminal) =>
        (await import('./erase-guest.js')).eraseOneGuest(config, guest, options, terminal),
      ),
    purgeGuests: (options, globals) =>
      withConfig(globals, command, async (config, terminal) =>
        (await import('./purge-guests.js')).purgeGuests(config, options, terminal),
      ),
    privacy: (globals) =>
      withConfig(globals, command, async (config, terminal) =>
        (await import('./show-privacy.js')).showPrivacy(config, terminal),
      ),
    syncMappings: (options, globals) =>
      withConfig(globals, command, async (config, terminal) =>
        (await import('./sync-mappings.js')).syncOnce(config, options, terminal),
      ),
    showMapping: (providerName, providerHotelId, globals) =>
      withConfig(globals, command, async (config, terminal) => {
        const { showMapping } = await import('./show-mappings.js');
        return showMapping(config, { providerName, providerHotelId }, terminal);
      }),
    mappingStats: (globals) =>
      withConfig(globals, command, async (config, terminal) =>
        (await import('./show-mappings.js')).showStats(config, terminal),
      ),
    brands: (options, globals) =>
      withConfig(globals, command, async (config, terminal) =>
        (await import('./list-brands.js')).listBrands(config, options, terminal),
      ),
    requestExport: (options, globals) =>
      withConfig(globals, command, async (config, terminal) =>
        (await import('./request-export.js')).requestOneExport(config, options, terminal),
      ),
    fetchExport: (options, globals) =>
      withConfig(globals, command, async (config, terminal) =>
        (await import('./fetch-export.js')).fetchOneExport(config, options, terminal),
      ),
    compareExport: (file, options, globals) =>
      withConfig(globals, command, async (config, terminal) =>
        (await import('./compare-export.js')).compareOneExport(config, file, options, terminal),
      ),
    work: (options, globals) =>
      withConfig(toLog(globals), command, async (config, terminal) =>
        (await import('./work.js')).work(config, options, terminal),
      ),
    serve: (options, globals) =>
      withConfig(toLog(globals), command, async (config, terminal) =>
        (await import('./serve.js')).serve(config, options, terminal),
      ),
    hook: (options, globals) =>
      withConfig(globals, command, async (config, terminal) =>
        (await import('./sign-hook.js')).signHook(config, options, terminal),
      ),
    init: (options, globals) =>
      withTerminal(globals, command, async (terminal) => {
        const { initialise } = await import('./init.js');
        return initialise(options, globals, { terminal, schemaFile });
      }),
    doctor: (options, globals) =>
      withTerminal(globals, command, async (terminal) =>
        (await import('./doctor.js')).examine(options, globals, terminal),
      ),
    sandbox: (options, globals) =>
      withTerminal(globals, command, async (terminal) =>
        (await import('./sandbox.js')).runSandbox(options, terminal),
      ),
    makeBookings: (options, globals) =>
      withTerminal(globals, command, async (terminal) =>
        (await import('./make-bookings.js')).makeBookings(
          { day: yesterdayIn('UTC').iso, ...options },
          terminal,
        ),
      ),
  };
}

/** Long-running commands write log lines, at the usual level unless another one is set. */
function toLog(globals: GlobalOptions): GlobalOptions {
  return { ...globals, logLevel: globals.logLevel ?? 'info' };
}

function yesterdayIn(timezone: string): BusinessDay {
  return businessDayAt(new Date(), timezone).previous();
}

/** @param written YYYY-MM-DD, `today` or `yesterday` */
function readDayIn(timezone: string, written = 'yesterday'): BusinessDay {
  switch (written) {
    case 'today':
      return businessDayAt(new Date(), timezone);
    case 'yesterday':
      return yesterdayIn(timezone);
    default:
      return createBusinessDay(written, timezone);
  }
}

/** The command in work: its process, and what it prints for programs. */
interface Command {
  readonly io: CommandIo;
  readonly reports: Reports;
}

type Job = (terminal: Terminal) => Promise<number>;

async function withTerminal(
  { config, logLevel, stackTrace }: GlobalOptions,
  { io, reports }: Command,
  job: Job,
): Promise<number> {
  io.signal.throwIfAborted();
  refuseUnverifiedTls(io.env);
  const log = logLevel && (await openLog(logLevel, io.stderr));
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
      'the authorities that you trust instead: service.ca, s3.ca, source.ca, ledger.ca, queue.ca; for SFTP, file.sftp.hostKey',
  );
}

async function withConfig(
  globals: GlobalOptions,
  command: Command,
  job: (config: Config, terminal: Terminal) => Promise<number>,
): Promise<number> {
  const { io } = command;
  refuseUnverifiedTls(io.env);
  const config = await loadConfig({ file: resolve(io.cwd, globals.config), env: io.env });
  for (const { from, to } of config.renamedSettings) {
    io.stderr.write(
      `${globals.config}: ${from} is now called ${to}; the next version refuses the old name\n`,
    );
  }
  return withTerminal(globals, command, (terminal) => stopInTime(job(config, terminal), config, command));
}

/** Fails once a stop takes too long: a ledger or a queue that does not answer must not delay the exit. */
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
      stderr.write(`hotel-review: ${message}\n`);
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

/** The configured delivery, or the one that was asked for on the command line. */
function withDelivery(
  config: Config,
  { config: file }: GlobalOptions,
  delivery: DeliveryKind = config.delivery,
): Config {
  // A configuration for the other delivery may lack the server.
  if (delivery === 'file' && config.file.sftp === undefined) {
    throw new ConfigurationError(file, [
      { path: 'file.sftp', message: 'expected the SFTP server, as --delivery is file, got: nothing' },
    ]);
  }
  return { ...config, delivery };
}
