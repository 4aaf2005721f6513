import { bookingFields, findHotelHash, guestNameFields } from '../../booking/booking.js';
import { batchStreams } from '../../booking/sending.js';
import { blankFields, readBooking } from '../../booking/stored-line.js';
import { eraseExtraAt, readStoredBatches, splitStoredLines } from '../../ledger/batches.js';
import type { BlankLines } from '../../ledger/guests.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { Run } from '../../rules/run.js';
import { type Guest, isLineOf } from './guest.js';

/** What is erased of a guest. */
export interface Erasure {
  readonly guest: Guest;
  /** Reference and stay too, not only the name. */
  readonly all: boolean;
  readonly at: number;
}

const allFields: ReadonlySet<string> = new Set(
  bookingFields.flatMap(({ name, kind, property }) =>
    kind === 'guest-name' || kind === 'date' || property === 'bookingReferenceId' ? [name] : [],
  ),
);

/** Blanks the guest's lines where they are: all others keep their rows. */
export function createLineBlanker({ guest, all }: Erasure): BlankLines {
  const fields = all ? allFields : guestNameFields;
  // A cell doubles quotes.
  const needle = guest.reference.replaceAll('"', '""');
  return (lines) => {
    if (!lines.includes(needle)) return undefined;
    const stored = splitStoredLines(lines);
    const rows = stored.flatMap((line, row) => (isLineOf(guest, line) ? [row] : []));
    if (rows.length === 0) return undefined;
    const theirs = new Set(rows);
    const blanked = stored.map((line, row) => (theirs.has(row) ? blankFields(line, fields) : line));
    const changed = rows.filter((row) => blanked[row] !== stored[row]);
    if (changed.length === 0) return { rows };
    const stays = changed.map((row) => ({
      row,
      hotelHash: findHotelHash(readBooking(stored[row] ?? '')),
    }));
    return {
      rows,
      lines: Buffer.from(blanked.map((line) => `${line}\n`).join('')),
      ...(all && { stays }),
    };
  };
}

/** What a run still holds of the guest in the ledger, by name. */
export async function findBlankable(
  ledger: ReadOnlyLedger,
  run: Run,
  { guest }: Erasure,
  blank: BlankLines,
): Promise<readonly string[]> {
  const found: string[] = [];
  if (!guest.traces.some((trace) => trace.kind === 'booking' && trace.run.id === run.id)) return found;
  for (const stream of batchStreams)
    for await (const { batch, lines } of readStoredBatches(ledger, run, stream)) {
      const blanked = blank(lines);
      if (!blanked) continue;
      const name = `${stream} batch ${batch}`;
      if (blanked.lines) found.push(name);
      const extraColumns = await ledger.bookings.readExtra(run.id, stream, batch);
      if (eraseExtraAt(extraColumns, blanked.rows)) found.push(`kept columns of ${name}`);
    }
  return found;
}
