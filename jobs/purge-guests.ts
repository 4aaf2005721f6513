import { exitCode } from '../src/cli/exit-code.js';
import { renderPurge } from '../src/cli/guest.js';
import type { Config } from '../src/config/load.js';
import { findDueDays, listDue, removeDue } from '../src/review/stored/retention.js';
import { recordAction } from './audit.js';
import { clearRemains } from './clear-remains.js';
import { clock } from './clock.js';
import { openArchive, openSpool } from './deliveries.js';
import { openKeyDestruction } from './key-folder.js';
import { openLedger, withReadOnlyLedger } from './ledgers.js';
import type { Terminal } from './terminal.js';

/**
 * Removes what is due by the retention settings. Unlike the clean-up after a run it trusts the machine's clock: a person
 * started it, and can look first with `--dry-run`. Exits with 1 if something is left because its day is being worked on.
 */
export async function purgeGuests(
  config: Config,
  { dryRun }: { readonly dryRun: boolean },
  terminal: Terminal,
): Promise<number> {
  const due = findDueDays(config, { now: clock(), timezone: config.timezone });
  const reportNone = (notice: string): number => {
    terminal.answer(`${notice}\n`, { dryRun, ...due, runs: [], records: [], left: [], remains: null });
    return exitCode.done;
  };
  // Opening the ledger for writing would create a missing one.
  const none = await withReadOnlyLedger(config, reportNone, async () => undefined);
  if (none !== undefined) return none;
  const ledger = await openLedger(config);
  try {
    const parts = {
      ledger,
      archive: openArchive(config),
      spool: openSpool(config),
      destroyKeys: openKeyDestruction(config, ledger),
    };
    const { names, records } = await listDue(parts, due);
    const details = { dryRun, ...due, runs: names.length, records: records.length };
    await recordAction(ledger, { action: 'guest-purge', details }, terminal);
    if (!dryRun) await removeDue(parts, due);
    const left = dryRun ? [] : (await listDue(parts, due)).names;
    const remains = dryRun ? undefined : await clearRemains(config, ledger);
    const purge = {
      dryRun,
      ...due,
      runs: names,
      records: records.map(({ id, day }) => ({ runId: id, day })),
      left: left.map(({ runId, day }) => ({ runId, day })),
      remains: remains ?? null,
    };
    terminal.answer(renderPurge(purge), purge);
    return left.length === 0 ? exitCode.done : exitCode.failed;
  } finally {
    await ledger.close();
  }
}
