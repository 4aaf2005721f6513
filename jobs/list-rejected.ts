import type { CsvOptions } from '../src/cli/commands/options.js';
import { exitCode } from '../src/cli/exit-code.js';
import { writeCsvFile } from '../src/cli/output-files.js';
import { renderRejected } from '../src/cli/rejected.js';
import type { Config } from '../src/config/load.js';
import { rejectedColumns, toRejectedRecord } from '../src/report/rejected.js';
import { rejectsListed } from '../src/review/collected.js';
import { kindOf } from '../src/sources/registry.js';
import { recordLook } from './audit.js';
import { withReadOnlyLedger } from './ledgers.js';
import type { Terminal } from './terminal.js';

/**
 * Lists the records of a day that can't be sent, of its latest run only: each run reads the whole source, so an earlier
 * one would repeat them, or list records that were corrected since.
 */
export async function listRejected(
  config: Config,
  day: string,
  { csv, ...how }: CsvOptions,
  terminal: Terminal,
): Promise<number> {
  const reportNone = (notice: string): number => {
    terminal.answer(`${notice}\n`, { day, runId: null, rejected: [], more: 0 });
    return exitCode.failed;
  };
  return withReadOnlyLedger(config, reportNone, async (ledger) => {
    const run = await ledger.latestRun(day);
    if (!run) return reportNone(`There is no run of ${day}.`);
    const rejected = (await ledger.listRejects(run.id, rejectsListed)).map(toRejectedRecord);
    const more = Math.max(0, run.counts.rejected - rejected.length);
    const details = { found: rejected.length, csv: csv && terminal.locate(csv) };
    await recordLook(ledger, { action: 'rejected', subject: day, details }, terminal);
    if (csv !== undefined)
      await writeCsvFile(rejectedColumns, { csv, ...how }, terminal, (add) => add(rejected));
    const { placeUnit } = kindOf(config.source);
    terminal.answer(
      renderRejected({ day, run, rejected, more, placeUnit }, { command: terminal.command, csv }),
      { day, runId: run.id, rejected, more },
    );
    return exitCode.done;
  });
}
