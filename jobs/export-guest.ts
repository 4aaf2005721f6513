import type { ReadOnlyCaseLedger } from '../src/cases/case-store.js';
import { exitCode } from '../src/cli/exit-code.js';
import { toGuestHistory } from '../src/cli/guest.js';
import type { Config } from '../src/config/load.js';
import type { RecordedAction } from '../src/review/audit.js';
import { listEveryRun } from '../src/review/every-run.js';
import { findGuest } from '../src/review/guests/guest.js';
import { findRecords, listKeptFiles } from '../src/review/guests/guest-files.js';
import { recordAction } from './audit.js';
import { openArchive, openSpool, withReadOnlyLedger } from './parts.js';
import type { Terminal } from './terminal.js';

/** Prints everything that is kept about a guest as JSON; exits with 1 if there is nothing. */
export async function exportOneGuest(config: Config, reference: string, terminal: Terminal): Promise<number> {
  const report = (found: object): void => {
    terminal.answer(`${JSON.stringify({ reference, ...found }, null, 2)}\n`, { reference, ...found });
  };
  const reportNone = (notice: string): number => {
    report({ bookings: [], files: [], cases: [], auditTrail: [] });
    terminal.warn(notice);
    return exitCode.failed;
  };
  return withReadOnlyLedger(config, reportNone, async (ledger) => {
    const found = await collectGuest(config, ledger, reference, terminal.signal);
    const { bookings, files } = found;
    const details = { bookings: bookings.length, files: files.length };
    // Typed text that is not a known reference may be a name.
    const subject = bookings.length > 0 ? reference : undefined;
    await recordAction(ledger, { action: 'guest-export', subject, details }, terminal);
    report(found);
    return bookings.length + files.length > 0 ? exitCode.done : exitCode.failed;
  });
}

async function collectGuest(
  config: Config,
  ledger: ReadOnlyCaseLedger,
  reference: string,
  signal: AbortSignal,
) {
  const guest = await findGuest(ledger, reference);
  const runs = await listEveryRun(ledger);
  const bookings = (await ledger.trace(reference)).map(toGuestHistory);
  const places = { archive: openArchive(config), spool: openSpool(config) };
  const files: object[] = [];
  for (const run of runs) {
    signal.throwIfAborted();
    for (const file of await listKeptFiles(places, run)) {
      const records = await findRecords(file, guest);
      const { place, name } = file;
      if (records.length > 0) files.push({ runId: run.id, day: run.day, place, name, records });
    }
  }
  const cases: object[] = [];
  for (const { id, booking } of await ledger.cases.findBookings(reference))
    cases.push({ case: id, ...booking });
  return { bookings, files, cases, auditTrail: await listActions(ledger, reference) };
}

/** Who looked at the booking before, and who changed it. */
async function listActions({ audit }: ReadOnlyCaseLedger, reference: string): Promise<readonly object[]> {
  const found: RecordedAction[] = [];
  const wanted = { subject: reference };
  let next = await audit.nextActions(wanted);
  while (next) {
    found.push(...next.actions);
    next = await audit.nextActions(wanted, next.cursor);
  }
  return found.map(({ at, ...action }) => ({ at: new Date(at).toISOString(), ...action }));
}
