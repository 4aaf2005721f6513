import type { TracedCase } from '../cases/booked-cases.js';
import { neverSynced } from '../mappings/copied-hotels.js';
import type { BookingHistory } from '../report/booking-history.js';
import { describeSuspicion, describeVerdict } from '../report/describe-booking.js';
import { formatCountOf, formatInstant } from '../text/format.js';
import type { WriteCommand } from '../text/shell.js';
import { showInLine } from '../text/visible.js';
import { renderPair } from './hotel-pair.js';

function describeCase({ id, state, bookingState }: TracedCase): string {
  const booking = bookingState === null ? 'not in it' : bookingState;
  return `case ${id}: its mapping is ${state}, this booking ${booking}`;
}

/** The bookings of a guest looked up by name. The name is not repeated: output ends up in files and logs. */
export function renderGuestHistories(
  { bookings, unreferenced }: GuestHistories,
  { showsHotels = true }: ShowingHotels = {},
): string {
  if (bookings.length + unreferenced === 0)
    return 'No booking of that name is in this ledger. Names are removed after guestNameDays, and those of erased guests at once.\n';
  const shown = bookings.map(
    ({ reference, ...history }) => `${renderHistory(reference, history, showsHotels)}\n`,
  );
  if (unreferenced > 0)
    shown.push(`${formatCountOf(unreferenced, 'booking')} of that name without a reference\n`);
  return shown.join('\n');
}

export interface GuestHistories {
  readonly bookings: readonly (BookingHistory & { readonly reference: string })[];
  /** How many more bookings of that name have no reference. */
  readonly unreferenced: number;
}

interface ShowingHotels {
  /** Whether to show the hotels side by side; false until content was loaded. */
  readonly showsHotels?: boolean;
}

export function renderHistories(
  reference: string,
  histories: readonly BookingHistory[],
  command: WriteCommand,
  { showsHotels = true }: ShowingHotels = {},
): string {
  if (histories.length === 0)
    return `${showInLine(reference)} is in no run of this ledger. What was rejected, and where: ${command('rejected DAY')}\n`;
  return histories.map((history) => `${renderHistory(reference, history, showsHotels)}\n`).join('\n');
}

function renderHistory(reference: string, history: BookingHistory, showsHotels: boolean): string {
  const lines = [
    `${showInLine(reference)}: ${history.state} in run ${history.runId} of ${history.day} (${history.runState})`,
  ];
  if (history.rejected) {
    lines.push(`  not sent: ${history.rejected.reason}, at place ${history.rejected.place} of the source`);
  }
  if (!history.rejected) lines.push(`  verdict: ${describeVerdict(history, formatInstant)}`);
  if (history.case) lines.push(`  ${describeCase(history.case)}`);
  if (history.suspect) lines.push(`  ${describeSuspicion(history.suspect)}`);
  for (const [field, value] of Object.entries(history.booking ?? {}))
    lines.push(`  ${field}: ${showInLine(String(value))}`);
  for (const [label, value] of Object.entries(history.kept ?? {}))
    lines.push(`  ${label} (kept, not sent): ${showInLine(value)}`);
  const { hotels } = history;
  if (hotels && showsHotels) lines.push(...renderPair(hotels, hotels));
  else if (hotels?.copy === 'never-synced') lines.push(`  in the copy: ${neverSynced}`);
  for (const attempt of history.attempts ?? []) {
    const status = attempt.httpStatus === undefined ? '' : ` (HTTP ${attempt.httpStatus})`;
    const when = formatInstant(Date.parse(attempt.startedAt));
    lines.push(
      `  ${when}  ${attempt.step}, attempt ${attempt.attempt}: ${attempt.outcome}, ${attempt.code}${status}`,
    );
    // Indented, so that no line of it looks like one of ours.
    if (attempt.answer !== undefined)
      lines.push(`    the service said: ${attempt.answer.replaceAll('\n', '\n      ')}`);
  }
  if (history.attempts?.length === 0) lines.push('  not sent yet');
  return lines.join('\n');
}
