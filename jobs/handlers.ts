import { fileURLToPath } from 'node:url';
import type { GlobalOptions } from '../src/cli/commands/options.js';
import type { Handlers } from '../src/cli/commands/program.js';
import type { Config } from '../src/config/load.js';
import { ConfigurationError } from '../src/config/problems.js';
import type { DeliveryKind } from '../src/review/run.js';
import { codeOf } from '../src/text/safe-error.js';
import { UsageError } from '../src/text/usage-error.js';
import { withApp } from './app.js';
import { readDayIn, readDaysIn } from './days.js';
import { type Running, withConfig, withTerminal } from './execute.js';

/** It ships with the package. */
const schemaFile = fileURLToPath(new URL('../../hotel-review.schema.json', import.meta.url));

/** Each handler starts one job, and loads it only then. */
export function createHandlers(command: Running): Handlers {
  return {
    run: async (options, globals) => {
      const { day, dryRun, out, delivery, detach, metricsFile } = options;
      const { acceptVolume, acceptRepeated: acceptsRepeated } = options;
      const run = (note?: (config: Config) => void) =>
        withConfig(globals, command, async (configured, terminal) => {
          note?.(configured);
          const config = withDelivery(configured, globals, delivery);
          const businessDay = readDayIn(config.timezone, day);
          if (dryRun) return (await import('./dry-run.js')).dryRunDay(config, businessDay, { out }, terminal);
          const { reviewDay } = await import('./review-day.js');
          return withApp(config, terminal, (app) =>
            reviewDay(app, businessDay, {
              ...{ mode: 'run', trigger: 'manual', delivery, detach, acceptsRepeated },
              volumeAcceptedBy: acceptVolume ? terminal.io.user : undefined,
            }),
          );
        });
      if (metricsFile === undefined) return run();
      return (await import('./metrics-file.js')).withMetricsFile(metricsFile, command.io, run);
    },
    cancel: (day, options, globals) =>
      withConfig(globals, command, async (config, terminal) => {
        const { cancelRun } = await import('./cancel-run.js');
        return cancelRun(config, readDayIn(config.timezone, day).iso, options, terminal);
      }),
    replay: (day, options, globals) =>
      withConfig(globals, command, async (config, terminal) => {
        const { replayDays } = await import('./replay-days.js');
        const from = readDayIn(config.timezone, day).iso;
        const read = readDaysIn(config.timezone, options, ['to']);
        return withApp(withDelivery(config, globals, options.delivery), terminal, (app) =>
          replayDays(app, from, read),
        );
      }),
    affected: (options, globals) =>
      withConfig(globals, command, async (config, terminal) => {
        const read = readDaysIn(config.timezone, options, ['day', 'from', 'to', 'checkInBefore']);
        return (await import('./list-affected.js')).listAffected(config, read, terminal);
      }),
    refused: ({ day, ...options }, globals) =>
      withConfig(globals, command, async (config, terminal) => {
        const { listRefused } = await import('./list-refused.js');
        return listRefused(config, readDayIn(config.timezone, day).iso, options, terminal);
      }),
    posted: ({ day, ...options }, globals) =>
      withConfig(globals, command, async (config, terminal) => {
        const { listPosted } = await import('./list-posted.js');
        return listPosted(config, readDayIn(config.timezone, day).iso, options, terminal);
      }),
    suspects: ({ day, ...options }, globals) =>
      withConfig(globals, command, async (config, terminal) => {
        const { listSuspects } = await import('./list-suspects.js');
        return listSuspects(config, readDayIn(config.timezone, day).iso, options, terminal);
      }),
    cases: (options, globals) =>
      withConfig(globals, command, async (config, terminal) => {
        const read = readDaysIn(config.timezone, options, ['checkInBefore']);
        return (await import('./list-cases.js')).listCases(config, read, terminal);
      }),
    case: (id, request, globals) =>
      withConfig(globals, command, async (config, terminal) =>
        (await import('./change-case.js')).changeCase(config, id, request, terminal),
      ),
    providers: (options, globals) =>
      withConfig(globals, command, async (config, terminal) => {
        const read = readDaysIn(config.timezone, options, ['from', 'to']);
        return (await import('./score-providers.js')).scoreAllProviders(config, read, terminal);
      }),
    audit: ({ from, to }, globals) =>
      withConfig(globals, command, async (config, terminal) => {
        const readBound = (day?: string) => (day === undefined ? undefined : readDayIn(config.timezone, day));
        const { showAudit } = await import('./show-audit.js');
        return showAudit(config, { from: readBound(from), to: readBound(to) }, terminal);
      }),
    brands: (options, globals) =>
      withConfig(globals, command, async (config, terminal) =>
        (await import('./list-brands.js')).listBrands(config, options, terminal),
      ),
    init: (options, globals) =>
      withTerminal(globals, command, async (terminal) => {
        const { initialise } = await import('./init.js');
        // The account's zone may not be known yet.
        const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
        return initialise(readDaysIn(timeZone, options, ['day']), globals, { terminal, schemaFile });
      }),
    doctor: (options, globals) =>
      withTerminal(globals, command, async (terminal) =>
        (await import('./doctor.js')).examine(options, globals, terminal),
      ),
    sandbox: (options, globals) =>
      withTerminal(globals, command, async (terminal) =>
        (await import('./sandbox.js').catch(explainWithoutSandbox)).runSandbox(options, terminal),
      ),
    makeBookings: (options, globals) =>
      withTerminal(globals, command, async (terminal) =>
        (await import('./make-bookings.js').catch(explainWithoutSandbox)).makeBookings(
          { ...options, day: readDayIn('UTC', options.day).iso },
          terminal,
        ),
      ),
  };
}

/** Images for production are built without the sandbox. */
function explainWithoutSandbox(error: unknown): never {
  if (codeOf(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
  throw new UsageError(
    'the sandbox is not part of this installation; use the project itself, or an image built with --target=trial',
  );
}

/** Long-running commands write log lines, at the usual level unless another one is set. */
function _toLog(globals: GlobalOptions): GlobalOptions {
  return { ...globals, logLevel: globals.logLevel ?? 'info' };
}

/** The configured delivery, or the one requested on the command line. */
function withDelivery(
  config: Config,
  { config: file }: GlobalOptions,
  delivery: DeliveryKind = config.delivery,
): Config {
  // A configuration for delivery by body may lack the server.
  if (delivery === 'file' && config.file.sftp === undefined) {
    throw new ConfigurationError(file, [
      { path: 'file.sftp', message: 'expected the SFTP server, as --delivery is file, got: nothing' },
    ]);
  }
  return { ...config, delivery };
}
