import type { CsvOptions } from '../src/cli/commands/options.js';
import { exitCode } from '../src/cli/exit-code.js';
import type { Config } from '../src/config/load.js';
import { listRefused as findRefused } from '../src/review/verdicts/listing.js';
import { formatCount } from '../src/text/format.js';
import { answerBookings, completeList, readFilter, toRecords } from './list-bookings.js';
import { withReadOnlyLedger } from './parts.js';
import type { Terminal } from './terminal.js';

/**
 * Lists the bookings of a day that the service refused, without guests' names. Of its latest run only: what an earlier one
 * could not deliver was sent again.
 */
export async function listRefused(
  config: Config,
  day: string,
  options: CsvOptions,
  terminal: Terminal,
): Promise<number> {
  const { command } = terminal;
  const reportNone = (notice: string): number => {
    terminal.answer(`${notice}\n`, { day, runId: null, state: null, refused: [] });
    return exitCode.failed;
  };
  return withReadOnlyLedger(config, reportNone, async (ledger) => {
    const run = await ledger.latestRun(day);
    if (!run) return reportNone(`There is no run of ${day}.`);
    const { id, state } = run;
    const found = await findRefused(ledger, [{ day, runs: [run] }], readFilter(config));
    const list = completeList(found, ledger);
    const listed = {
      list,
      look: { action: 'refused', subject: day },
      head:
        list.count === 0
          ? `${day}: the service refused no booking (run ${id}, ${state}).`
          : `${day}: bookings that the service refused: ${formatCount(list.count)} (run ${id})`,
      notes:
        list.count === 0 ? [] : [`What the service said about one: ${command('show REFERENCE --answers')}`],
      json: { day, runId: id, state, refused: toRecords(list, false) },
    } as const;
    await answerBookings(listed, options, { config, ledger, terminal });
    return exitCode.done;
  });
}
