import { affectedColumns, renderAffected } from '../src/cli/affected.js';
import { exitCode, exitCodeOf } from '../src/cli/exit-code.js';
import { createCsvFile } from '../src/cli/output-files.js';
import type { Config } from '../src/config/load.js';
import type { ReadOnlyLedger } from '../src/review/ledger.js';
import type { Run } from '../src/review/run.js';
import { readNamelessFields } from '../src/review/stored/stored-line.js';
import { withReadOnlyLedger } from './ledgers.js';
import type { Terminal } from './terminal.js';

const runsLookedAt = 1_000;

/** Lists the bookings of a day whose mapping its latest result marks as incorrect, without guests' names. */
export async function listAffected(
  config: Config,
  day: string,
  { csv }: { readonly csv?: string | undefined },
  terminal: Terminal,
): Promise<number> {
  const reportNone = (notice: string): number => {
    terminal.answer(`${notice}\n`, { day, runId: null, affected: [] });
    return exitCode.failed;
  };
  return withReadOnlyLedger(config, reportNone, async (ledger) => {
    const runs = await ledger.listRuns({ day, limit: runsLookedAt });
    const run = runs.find(({ file }) => file?.verdicts);
    if (!run) {
      terminal.answer(renderAffected(day, runs[0], [], terminal), { day, runId: null, affected: [] });
      return runs[0]?.state === 'awaiting-result' ? exitCodeOf(runs[0]) : exitCode.failed;
    }
    const affected: Record<string, unknown>[] = [];
    const file =
      csv === undefined ? undefined : await createCsvFile(affectedColumns, csv, terminal.locate(csv));
    for await (const bookings of readAffected(ledger, run)) {
      await file?.add(bookings);
      affected.push(...bookings);
    }
    await file?.finish();
    terminal.answer(renderAffected(day, run, affected, { command: terminal.command, csv }), {
      day,
      runId: run.id,
      affected,
    });
    return exitCode.done;
  });
}

/** One batch at a time. */
async function* readAffected(ledger: ReadOnlyLedger, { id }: Run): AsyncGenerator<Record<string, unknown>[]> {
  const next = (after?: number) => ledger.nextJudged(id, 'incorrect', after);
  for (let page = await next(); page; page = await next(page.batch)) {
    yield page.lines.map((line) => readNamelessFields(line, 'file'));
  }
}
