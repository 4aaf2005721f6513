import { businessDayAt } from '../src/booking/business-day.js';
import type { CsvOptions } from '../src/cli/commands/options.js';
import { exitCode } from '../src/cli/exit-code.js';
import { writeCsvFile } from '../src/cli/output-files.js';
import { listSuspectColumns, renderSuspects, suspectsShown, toSuspectCells } from '../src/cli/suspects.js';
import type { Config } from '../src/config/load.js';
import {
  findComparedRuns,
  orderSuspects,
  readSuspects,
  type SuspectReport,
} from '../src/review/suspects/listing.js';
import { recordLook } from './audit.js';
import { clock } from './clock.js';
import { withReadOnlyLedger } from './ledgers.js';
import type { Terminal } from './terminal.js';

const runsLookedAt = 1_000;

interface SuspectOptions extends CsvOptions {
  /** Whether to list all of them rather than the first ones. */
  readonly json: boolean;
}

/** Lists the bookings of a day that the local copy of the mappings flags, without guests' names. */
export async function listSuspects(
  config: Config,
  day: string,
  { csv, json, ...how }: SuspectOptions,
  terminal: Terminal,
): Promise<number> {
  const reportNone = (notice: string): number => {
    terminal.answer(`${notice}\n`, { day, runId: null, suspects: [] });
    return exitCode.failed;
  };
  const keptLabels = Object.keys(config.source.keep);
  return withReadOnlyLedger(config, reportNone, async (ledger) => {
    const today = businessDayAt(new Date(clock()), config.timezone).iso;
    const runs = await ledger.listRuns({ day, limit: runsLookedAt });
    const compared = findComparedRuns(runs);
    const listed: SuspectReport[] = [];
    let count = 0;
    const [run] = compared;
    if (!run) {
      const words = renderSuspects(day, runs[0], { count, first: [] }, { ...terminal, keptLabels, today });
      terminal.answer(words, { day, runId: null, suspects: [] });
      return exitCode.failed;
    }
    const details = { csv: csv && terminal.locate(csv) };
    await recordLook(ledger, { action: 'suspects', subject: day, details }, terminal);
    const reader = keptLabels.length > 0 ? ledger : { nextSuspects: ledger.nextSuspects };
    const ordered = await orderSuspects(() => readSuspects(reader, compared), today);
    const read = async (add?: (records: readonly object[]) => Promise<void>) => {
      for await (const suspects of ordered.read()) {
        await add?.(suspects.map(toSuspectCells));
        count += suspects.length;
        for (const suspect of suspects) {
          if (json || listed.length < suspectsShown) listed.push(suspect);
        }
      }
    };
    await (csv === undefined
      ? read()
      : writeCsvFile(listSuspectColumns(keptLabels), { csv, ...how }, terminal, read));
    const options = { command: terminal.command, csv, keptLabels, today };
    terminal.answer(renderSuspects(day, run, { count, first: listed }, options), {
      day,
      runId: run.id,
      suspects: listed,
    });
    return exitCode.done;
  });
}
