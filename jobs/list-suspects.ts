import type { CsvOptions } from '../src/cli/commands/options.js';
import { exitCode } from '../src/cli/exit-code.js';
import { renderSuspectHead } from '../src/cli/suspects.js';
import type { Config } from '../src/config/load.js';
import { findComparedRuns } from '../src/review/suspects/listing.js';
import { listSuspected } from '../src/review/verdicts/listing.js';
import { answerBookings, completeList, readFilter, runsLookedAt, toRecords } from './list-bookings.js';
import { withReadOnlyLedger } from './parts.js';
import type { Terminal } from './terminal.js';

/** Lists the bookings of a day that the local copy of the mappings flags, without guests' names. */
export async function listSuspects(
  config: Config,
  day: string,
  options: CsvOptions,
  terminal: Terminal,
): Promise<number> {
  const reportNone = (notice: string): number => {
    terminal.answer(`${notice}\n`, { day, runId: null, state: null, suspects: [] });
    return exitCode.failed;
  };
  return withReadOnlyLedger(config, reportNone, async (ledger) => {
    const runs = await ledger.listRuns({ day, limit: runsLookedAt });
    const compared = findComparedRuns(runs);
    const [run] = compared;
    if (!run) return reportNone(renderSuspectHead(day, runs[0], 0, terminal.command));
    const found = await listSuspected(ledger, [{ day, runs: compared }], readFilter(config));
    const list = completeList(found, ledger);
    const listed = {
      list,
      areDoubted: true,
      look: { action: 'suspects', subject: day },
      head: renderSuspectHead(day, run, list.count, terminal.command),
      json: { day, runId: run.id, state: run.state, suspects: toRecords(list, false) },
    } as const;
    await answerBookings(listed, options, { config, ledger, terminal });
    return exitCode.done;
  });
}
