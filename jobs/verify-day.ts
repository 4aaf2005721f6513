import { exitCode } from '../src/cli/exit-code.js';
import { renderVerified, type VerifiedRun } from '../src/cli/file-summary.js';
import type { Config } from '../src/config/load.js';
import { verifyRun } from '../src/review/file/verify.js';
import { openArchive, withReadOnlyLedger } from './parts.js';
import type { Terminal } from './terminal.js';

const runsChecked = 1_000;

/** Checks a day's archive against the ledger. Exits with 1 if anything differs or nothing is archived. */
export async function verifyDay(config: Config, day: string, terminal: Terminal): Promise<number> {
  const reportNone = (notice: string): number => {
    terminal.answer(`${notice}\n`, { day, runs: [] });
    return exitCode.failed;
  };
  return withReadOnlyLedger(config, reportNone, async (ledger) => {
    const parts = { ledger, archive: openArchive(config), masterIdColumn: config.service.masterIdColumn };
    const runs = (await ledger.listRuns({ day, limit: runsChecked })).filter(({ file }) => file?.archivedTo);
    const verified: VerifiedRun[] = [];
    for (const run of runs) {
      const { unanswered, posted } = run.counts;
      verified.push({ runId: run.id, items: await verifyRun(parts, run), unanswered, posted });
    }
    terminal.answer(renderVerified(day, verified, terminal.command), { day, runs: verified });
    const isSound = verified.every(({ items }) => items.every(({ fault }) => fault === undefined));
    return isSound && verified.length > 0 ? exitCode.done : exitCode.failed;
  });
}
