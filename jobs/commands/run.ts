import { InvalidArgumentError } from 'commander';
import { createBusinessDay } from '../../src/booking/business-day.js';
import type { App } from '../app.js';
import { command, dayOrYesterday, flag, option } from '../command.js';
import { acceptVolume, checkOut, delivery, out, readAccepts, runReview, withDelivery } from '../main-job.js';
import { showLedgerLocation } from '../parts.js';

/** The main command: reviews one business day, or resumes it. */
export default command({
  place: ['common', 3],
  summary: 'review a business day, or resume one that was interrupted',
  day: dayOrYesterday,
  options: {
    delivery,
    acceptVolume,
    acceptAffected: flag(
      '--accept-affected',
      'call a day good although its result marks implausibly many bookings, until it marks more',
    ),
    acceptRepeated: flag('--accept-repeated', 'send the day even if an earlier day sent the same bookings'),
    unknownArchive: flag(
      '--unknown-archive',
      'continue with this ledger although the archive knows another one, which is lost; its bookings are unknown and may be sent again',
    ),
    quiet: flag('--quiet', 'for cron: after a good night print only warnings'),
    detach: flag('--detach', 'collect the day, leave the rest to workers (`work`, `serve`), and exit'),
    metricsFile: option(
      '--metrics-file <path>',
      "at the end, write metrics for node_exporter's textfile collector (*.prom)",
    ),
    dryRun: flag('--dry-run', 'read and check the day, send nothing'),
    out,
  },
  examples: `
Examples:
  hotel-review run                review yesterday, or resume it
  hotel-review run 2026-11-20     review that day, or resume it
  hotel-review run today          review what has been booked today so far
  hotel-review run 2026-11-20 --accept-volume
                                  that day really has so few bookings
  hotel-review run 2026-11-20 --dry-run
                                  what would be sent and rejected
  hotel-review run 2026-11-20 --dry-run --out out
                                  what would be sent, as files
  hotel-review run --quiet        from cron: prints what somebody has to know
  hotel-review run --detach       with Redis: workers do the rest, see \`status\``,

  read(given, { globals }) {
    checkOut(given);
    if (given.dryRun && given.metricsFile !== undefined)
      throw new InvalidArgumentError(
        '--metrics-file and --dry-run exclude each other: a dry run is not a run',
      );
    if (given.dryRun && given.quiet)
      throw new InvalidArgumentError('--quiet and --dry-run exclude each other: a dry run is what it prints');
    if (given.dryRun && given.unknownArchive)
      throw new InvalidArgumentError('--unknown-archive and --dry-run exclude each other');
    return { ...given, configFile: globals.config };
  },

  tells: ({ dryRun }) => !dryRun,

  async around({ metricsFile }, io, perform) {
    if (metricsFile === undefined) return perform();
    return (await import('../metrics-file.js')).withMetricsFile(metricsFile, io, perform);
  },

  async run(configured, { configFile, ...given }) {
    const app = withDelivery(configured, configFile, given.delivery);
    const day = createBusinessDay(given.day, app.config.timezone);
    if (given.dryRun) return (await import('../dry-run.js')).dryRunDay(app, day, given.out);
    if (given.unknownArchive) await adoptArchive(app, day.iso);
    return runReview(app, day, {
      mode: 'run',
      trigger: 'manual',
      delivery: given.delivery,
      detach: given.detach,
      isQuiet: given.quiet,
      acceptsRepeated: given.acceptRepeated,
      accepts: readAccepts(given, app.io.user),
    });
  },
});

/** A person says that the ledger which the archive knows is lost. */
async function adoptArchive(app: App, day: string): Promise<void> {
  await app.adoptLedger();
  await app.look({ action: 'run', subject: day, details: { unknownArchive: true } });
  app.say(
    `The archive ${app.archive().path} belongs to this ledger from now on: ${await showLedgerLocation(app.config)}`,
  );
}
