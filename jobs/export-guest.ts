import type { ReadOnlyCaseLedger } from '../src/cases/case-store.js';
import { exitCode } from '../src/cli/exit-code.js';
import { toGuestHistory } from '../src/cli/guest.js';
import type { Config } from '../src/config/load.js';
import type { RecordedAction } from '../src/review/audit.js';
import { listEveryRun } from '../src/review/every-run.js';
import { findGuest, type GuestQuery, readLinesNaming } from '../src/review/guests/guest.js';
import { findRecords, listKeptFiles } from '../src/review/guests/guest-files.js';
import { keptAt } from '../src/review/kept-columns.js';
import { readBooking, readFields } from '../src/review/stored/stored-line.js';
import { recordAction } from './audit.js';
import { openArchive, openSpool } from './deliveries.js';
import { withReadOnlyLedger } from './ledgers.js';
import type { Terminal } from './terminal.js';

/** Prints everything that is kept about a guest as JSON; exits with 1 if there is nothing. */
export async function exportOneGuest(config: Config, query: GuestQuery, terminal: Terminal): Promise<number> {
  const report = (found: object): void =>
    terminal.answer(`${JSON.stringify({ ...query, ...found }, null, 2)}\n`, { ...query, ...found });
  const reportNone = (notice: string): number => {
    report({ bookings: [], files: [], cases: [], auditTrail: [] });
    terminal.warn(notice);
    return exitCode.failed;
  };
  return withReadOnlyLedger(config, reportNone, async (ledger) => {
    const found = await collectGuest(config, ledger, query, terminal.signal);
    const { bookings, files } = found;
    const details = { bookings: bookings.length, files: files.length, byName: 'name' in query };
    // Typed text that is not a known reference may be a name.
    const subject = 'reference' in query && bookings.length > 0 ? query.reference : undefined;
    await recordAction(ledger, { action: 'guest-export', subject, details }, terminal);
    report(found);
    return bookings.length + files.length > 0 ? exitCode.done : exitCode.failed;
  });
}

async function collectGuest(
  config: Config,
  ledger: ReadOnlyCaseLedger,
  query: GuestQuery,
  signal: AbortSignal,
) {
  const guest = await findGuest(ledger, query, signal);
  const runs = await listEveryRun(ledger);
  const bookings: object[] = [];
  for (const reference of guest.references)
    bookings.push(...(await ledger.trace(reference)).map(toGuestHistory));
  if ('name' in query) {
    // A booking without a reference can't be traced.
    for (const run of runs)
      for await (const { line, form, batch, place } of readLinesNaming(ledger, run, query, signal)) {
        if (readBooking(line, form).bookingReferenceId !== undefined) continue;
        const kept = keptAt(await ledger.readKeptColumns(run.id, form, batch), place);
        bookings.push({
          runId: run.id,
          day: run.day,
          runState: run.state,
          booking: readFields(line, form),
          ...(kept && { kept }),
        });
      }
  }
  for (const reject of guest.rejects)
    if (reject.reference === undefined) bookings.push(toGuestHistory({ kind: 'reject', ...reject }));
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
  for (const reference of guest.references)
    for (const { id, booking } of await ledger.cases.findBookings(reference))
      cases.push({ case: id, ...booking });
  return { bookings, files, cases, auditTrail: await listActions(ledger, guest.references) };
}

/** Who looked at these bookings before, and who changed them. */
async function listActions(
  { audit }: ReadOnlyCaseLedger,
  references: ReadonlySet<string>,
): Promise<readonly object[]> {
  const found: RecordedAction[] = [];
  for (const subject of references) {
    let next = await audit.nextActions({ subject });
    while (next) {
      found.push(...next.actions);
      next = await audit.nextActions({ subject }, next.cursor);
    }
  }
  return found.map(({ at, ...action }) => ({ at: new Date(at).toISOString(), ...action }));
}
