#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { businessDayAt, createBusinessDay } from '../src/booking/business-day.js';
import { describeFailure, exitCode, stackFrames } from '../src/cli/exit-code.js';
import { type GlobalOptions, type Handlers, helpShown, runCommandLine } from '../src/cli/program.js';
import { listenForStop } from '../src/cli/stop-signal.js';
import { type Config, loadConfig } from '../src/config/load.js';
import { ConfigurationError } from '../src/config/problems.js';
import { findUnavailable } from '../src/config/unavailable.js';
import type { DeliveryKind } from '../src/review/run.js';
import { createTerminal, type Terminal } from './terminal.js';

/** The command `hotel-review`: each handler starts one job. Jobs are loaded when they are asked for. */
const { stdout: output, stderr: errors } = process;
const stop = listenForStop(process, errors);

const handlers: Handlers = {
  run: ({ day, dryRun, out, delivery }, globals) =>
    withConfig(globals, async (configured, terminal) => {
      const config = withDelivery(configured, delivery, globals);
      const businessDay =
        day === undefined
          ? businessDayAt(new Date(), config.timezone).previous()
          : createBusinessDay(day, config.timezone);
      if (dryRun) return (await import('./dry-run.js')).dryRunDay(config, businessDay, { out }, terminal);
      const { reviewDay } = await import('./review-day.js');
      return reviewDay(config, businessDay, { mode: 'run', trigger: 'manual', delivery }, terminal);
    }),
  replay: (day, options, globals) =>
    withConfig(globals, async (config, terminal) => {
      const { replayDays } = await import('./replay-days.js');
      return replayDays(withDelivery(config, options.delivery, globals), day, options, terminal);
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
};

async function withConfig(
  { config: file, json, logLevel }: GlobalOptions,
  job: (config: Config, terminal: Terminal) => Promise<number>,
): Promise<number> {
  const terminal = createTerminal({ json, logLevel, signal: stop.signal, output, errors });
  try {
    const config = await loadConfig({ file: resolve(file), env: process.env });
    refuseUnavailable(config, file);
    return await job(config, terminal);
  } finally {
    terminal.endProgress();
  }
}

/** The configured delivery, or the one that was asked for on the command line. */
function withDelivery(
  config: Config,
  delivery: DeliveryKind | undefined,
  { config: file }: GlobalOptions,
): Config {
  const chosen = { ...config, delivery: delivery ?? config.delivery };
  refuseUnavailable(chosen, file);
  return chosen;
}

function refuseUnavailable(config: Config, file: string): void {
  const problems = findUnavailable(config);
  if (problems.length > 0) throw new ConfigurationError(file, problems);
}

async function main(arguments_: readonly string[]): Promise<number> {
  const packageFile = new URL('../../package.json', import.meta.url);
  const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string };
  const wantsJson = arguments_.includes('--json');
  try {
    const result = await runCommandLine(arguments_, version, handlers, {
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
