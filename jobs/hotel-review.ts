#!/usr/bin/env node
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BusinessDay, businessDayAt, createBusinessDay } from '../src/booking/business-day.js';
import { ignoreClosedPipe } from '../src/cli/closed-pipe.js';
import type { GlobalOptions } from '../src/cli/commands/options.js';
import { describeFailure, exitCode, stackFrames } from '../src/cli/exit-code.js';
import { leaveOnceWritten } from '../src/cli/leaving.js';
import { type Handlers, helpShown, runCommandLine } from '../src/cli/program.js';
import { listenForStop } from '../src/cli/stop-signal.js';
import { type Config, loadConfig } from '../src/config/load.js';
import { ConfigurationError } from '../src/config/problems.js';
import type { DeliveryKind } from '../src/review/run.js';
import { createTerminal, type Terminal } from './terminal.js';
import { readVersion } from './version.js';

/** The command `hotel-review`: each handler starts one job. Jobs are loaded when they are asked for. */
const { stdout: output, stderr: errors } = process;
const stop = listenForStop(process, errors);
for (const stream of [output, errors]) ignoreClosedPipe(stream);
/** How much longer than `workers.stopSeconds` it takes at most to end after a stop was asked for. */
const lastResortMs = 5_000;
/** It comes with the package. */
const schemaFile = fileURLToPath(new URL('../../hotel-review.schema.json', import.meta.url));

const handlers: Handlers = {
  run: ({ day, dryRun, out, delivery, detach }, globals) =>
    withConfig(globals, async (configured, terminal) => {
      const config = withDelivery(configured, globals, delivery);
      const businessDay =
        day === undefined ? yesterdayIn(config.timezone) : createBusinessDay(day, config.timezone);
      if (dryRun) return (await import('./dry-run.js')).dryRunDay(config, businessDay, { out }, terminal);
      const { reviewDay } = await import('./review-day.js');
      return reviewDay(config, businessDay, { mode: 'run', trigger: 'manual', delivery, detach }, terminal);
    }),
  replay: (day, options, globals) =>
    withConfig(globals, async (config, terminal) => {
      const { replayDays } = await import('./replay-days.js');
      return replayDays(withDelivery(config, globals, options.delivery), day, options, terminal);
    }),
  status: (day, globals) =>
    withConfig(globals, async (config, terminal) =>
      (await import('./show-status.js')).showStatus(config, day, terminal),
    ),
  show: (reference, options, globals) =>
    withConfig(globals, async (config, terminal) => {
      const { showBooking } = await import('./show-booking.js');
      return showBooking(config, reference, options, terminal);
    }),
  affected: (day, options, globals) =>
    withConfig(globals, async (config, terminal) => {
      const { listAffected } = await import('./list-affected.js');
      return listAffected(config, day ?? yesterdayIn(config.timezone).iso, options, terminal);
    }),
  suspects: (day, { csv }, globals) =>
    withConfig(globals, async (config, terminal) => {
      const { listSuspects } = await import('./list-suspects.js');
      const options = { csv, json: globals.json };
      return listSuspects(config, day ?? yesterdayIn(config.timezone).iso, options, terminal);
    }),
  verify: (day, globals) =>
    withConfig(globals, async (config, terminal) =>
      (await import('./verify-day.js')).verifyDay(config, day, terminal),
    ),
  syncMappings: (options, globals) =>
    withConfig(globals, async (config, terminal) =>
      (await import('./sync-mappings.js')).syncOnce(config, options, terminal),
    ),
  showMapping: (providerName, providerHotelId, globals) =>
    withConfig(globals, async (config, terminal) => {
      const { showMapping } = await import('./show-mappings.js');
      return showMapping(config, { providerName, providerHotelId }, terminal);
    }),
  mappingStats: (globals) =>
    withConfig(globals, async (config, terminal) =>
      (await import('./show-mappings.js')).showStats(config, terminal),
    ),
  brands: (options, globals) =>
    withConfig(globals, async (config, terminal) =>
      (await import('./list-brands.js')).listBrands(config, options, terminal),
    ),
  requestExport: (options, globals) =>
    withConfig(globals, async (config, terminal) =>
      (await import('./request-export.js')).requestOneExport(config, options, terminal),
    ),
  fetchExport: (options, globals) =>
    withConfig(globals, async (config, terminal) =>
      (await import('./fetch-export.js')).fetchOneExport(config, options, terminal),
    ),
  compareExport: (file, options, globals) =>
    withConfig(globals, async (config, terminal) =>
      (await import('./compare-export.js')).compareOneExport(config, file, options, terminal),
    ),
  work: (options, globals) =>
    withConfig(toLog(globals), async (config, terminal) =>
      (await import('./work.js')).work(config, options, terminal),
    ),
  serve: (options, globals) =>
    withConfig(toLog(globals), async (config, terminal) =>
      (await import('./serve.js')).serve(config, options, terminal),
    ),
  hook: (options, globals) =>
    withConfig(globals, async (config, terminal) =>
      (await import('./sign-hook.js')).signHook(config, options, terminal),
    ),
  init: (options, globals) =>
    withTerminal(globals, async (terminal) => {
      const { initialise } = await import('./init.js');
      const { stdin: input, env: environment } = process;
      return initialise(options, globals, { terminal, input, errors, schemaFile, environment });
    }),
  doctor: (options, globals) =>
    withTerminal(globals, async (terminal) =>
      (await import('./doctor.js')).examine(options, globals, terminal, process.env),
    ),
  sandbox: (options, globals) =>
    withTerminal(globals, async (terminal) => (await import('./sandbox.js')).runSandbox(options, terminal)),
  makeBookings: (options, globals) =>
    withTerminal(globals, async (terminal) =>
      (await import('./make-bookings.js')).makeBookings(
        { day: yesterdayIn('UTC').iso, ...options },
        terminal,
      ),
    ),
};

/** What stays in the background writes log lines, of which the usual ones are enough unless others are asked for. */
function toLog(globals: GlobalOptions): GlobalOptions {
  return { ...globals, logLevel: globals.logLevel ?? 'info' };
}

function yesterdayIn(timezone: string): BusinessDay {
  return businessDayAt(new Date(), timezone).previous();
}

async function withTerminal(
  { config, json, logLevel }: GlobalOptions,
  job: (terminal: Terminal) => Promise<number>,
): Promise<number> {
  const log = logLevel && (await import('../src/cli/log.js')).createLog(logLevel, errors);
  const terminal = createTerminal({ config, json, log, signal: stop.signal, output, errors });
  try {
    return await job(terminal);
  } finally {
    terminal.endProgress();
  }
}

function withConfig(
  globals: GlobalOptions,
  job: (config: Config, terminal: Terminal) => Promise<number>,
): Promise<number> {
  return withTerminal(globals, async (terminal) => {
    const config = await loadConfig({ file: resolve(globals.config), env: process.env });
    endAtLast(config, terminal.signal);
    return job(config, terminal);
  });
}

/** A ledger or a queue that doesn't answer would be waited for: who asked for a stop shall not wait for that. */
function endAtLast({ workers: { stopSeconds } }: Config, signal: AbortSignal): void {
  const end = () => {
    errors.write(
      'hotel-review: something did not end in time and was given up; the ledger knows what is left\n',
    );
    process.exit(exitCode.failed);
  };
  signal.addEventListener('abort', () => setTimeout(end, stopSeconds * 1000 + lastResortMs).unref());
}

/** The configured delivery, or the one that was asked for on the command line. */
function withDelivery(
  config: Config,
  { config: file }: GlobalOptions,
  delivery: DeliveryKind = config.delivery,
): Config {
  // A file that configures another delivery need not name the server.
  if (delivery === 'file' && config.file.sftp === undefined) {
    throw new ConfigurationError(file, [
      { path: 'file.sftp', message: 'expected the SFTP server, as --delivery is file, got: nothing' },
    ]);
  }
  return { ...config, delivery };
}

async function main(arguments_: readonly string[]): Promise<number> {
  const wantsJson = arguments_.includes('--json');
  try {
    const result = await runCommandLine(arguments_, readVersion(), handlers, {
      writeOut: (text) => output.write(text),
      writeErr: (text) => errors.write(text),
    });
    return result === helpShown ? exitCode.done : result;
  } catch (error) {
    const failure = describeFailure(error);
    errors.write(`hotel-review: ${failure.message}\n`);
    if (arguments_.includes('--stack-trace')) errors.write(`${stackFrames(error)}\n`);
    if (wantsJson)
      output.write(`${JSON.stringify({ error: { class: failure.class, message: failure.message } })}\n`);
    return failure.exitCode;
  } finally {
    stop.ignore();
  }
}

process.exitCode = await main(process.argv.slice(2));
// Rows that nobody reads would keep it alive: who asked it to stop shall not wait for that.
if (stop.signal.aborted) process.exit();
leaveOnceWritten([output, errors], () => process.exit());
