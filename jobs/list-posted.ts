import type { CsvOptions } from '../src/cli/commands/options.js';
import { exitCode } from '../src/cli/exit-code.js';
import type { Config } from '../src/config/load.js';
import type { Run } from '../src/review/run.js';
import { summariseVerdicts } from '../src/review/verdicts/day-verdicts.js';
import { listPosted as findPosted } from '../src/review/verdicts/listing.js';
import { formatCount } from '../src/text/format.js';
import { answerBookings, completeList, readFilter, runsLookedAt, toRecords } from './list-bookings.js';
import { withReadOnlyLedger } from './parts.js';
import type { Terminal } from './terminal.js';

/** Lists the bookings of a day by file that could not be in the file and went by body, without guests' names. */
export async function listPosted(
  config: Config,
  day: string,
  options: CsvOptions,
  terminal: Terminal,
): Promise<number> {
  const reportNone = (notice: string): number => {
    terminal.answer(`${notice}\n`, { day, runId: null, state: null, posted: [] });
    return exitCode.failed;
  };
  return withReadOnlyLedger(config, reportNone, async (ledger) => {
    const { runs } = summariseVerdicts(day, await ledger.listRuns({ day, limit: runsLookedAt }));
    const [run] = runs;
    if (!run) return reportNone(`There is no run of ${day}.`);
    const list = completeList(await findPosted(ledger, [{ day, runs }], readFilter(config)), ledger);
    const listed = {
      list,
      look: { action: 'posted', subject: day },
      head: describe(run, runs, list.count),
      notes: list.count > 0 ? ['They could not be in the file. Their verdicts come by e-mail only.'] : [],
      json: { day, runId: run.id, state: run.state, posted: toRecords(list, false) },
    } as const;
    await answerBookings(listed, options, { config, ledger, terminal });
    return exitCode.done;
  });
}

function describe({ day, id, state }: Run, runs: readonly Run[], count: number): string {
  if (!runs.some(({ delivery }) => delivery === 'file'))
    return `${day} went by body as a whole: there is no file (run ${id}, ${state}).`;
  return count === 0
    ? `${day}: no booking went by body (run ${id}, ${state}).`
    : `${day}: bookings that went by body: ${formatCount(count)} (run ${id})`;
}
