import { InvalidArgumentError } from 'commander';
import { createBusinessDay } from '../src/booking/business-day.js';
import { command, dayOrYesterday, flag, option } from './command.js';
import { acceptVolume, checkOut, delivery, out, runReview, withDelivery } from './review-day.js';

/** The main command: reviews one business day, or resumes it. */
export default command({
  day: dayOrYesterday,
  options: {
    delivery,
    acceptVolume,
    acceptRepeated: flag('--accept-repeated', 'send the day even if an earlier day sent the same bookings'),
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
  hotel-review run --day 2026-11-20 --dry-run
                                  what would be sent and rejected
  hotel-review run --day 2026-11-20 --dry-run --out out
                                  what would be sent, as files
  hotel-review run --detach       with Redis: workers do the rest, see \`status\``,

  read(given, { globals }) {
    checkOut(given);
    if (given.dryRun && given.metricsFile !== undefined)
      throw new InvalidArgumentError(
        '--metrics-file and --dry-run exclude each other: a dry run is not a run',
      );
    return { ...given, configFile: globals.config };
  },

  async around({ metricsFile }, io, perform) {
    if (metricsFile === undefined) return perform();
    return (await import('./metrics-file.js')).withMetricsFile(metricsFile, io, perform);
  },

  async run(configured, { configFile, ...given }) {
    const app = withDelivery(configured, configFile, given.delivery);
    const day = createBusinessDay(given.day, app.config.timezone);
    if (given.dryRun) return (await import('./dry-run.js')).dryRunDay(app, day, given.out);
    return runReview(app, day, {
      mode: 'run',
      trigger: 'manual',
      delivery: given.delivery,
      detach: given.detach,
      acceptsRepeated: given.acceptRepeated,
      volumeAcceptedBy: given.acceptVolume ? app.io.user : undefined,
    });
  },
});
