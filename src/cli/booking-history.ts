import type { BookingHistory } from '../cases/booking-history.js';
import { describeSuspicion, describeVerdict } from '../cases/describe-booking.js';
import { neverSynced } from '../mappings/copied-hotels.js';
import { renderPair } from '../mappings/hotels/shown-hotels.js';
import { formatInstant } from '../text/format.js';
import { showInLine } from '../text/visible.js';

/**
 * What happened to a booking in each run, with a blank line between them.
 *
 * @param showsHotels whether to show the hotels side by side; false until content was loaded
 */
export function renderHistories(
  reference: string,
  histories: readonly BookingHistory[],
  showsHotels = true,
): string {
  return histories
    .map((history) => `${renderHistory(reference, history, showsHotels).join('\n')}\n`)
    .join('\n');
}

function renderHistory(reference: string, history: BookingHistory, showsHotels: boolean): string[] {
  const { state, runId, day, runState, rejected, suspect, attempts = [], hotels } = history;
  const lines = [
    `${showInLine(reference)}: ${state} in run ${runId} of ${day} (${runState})`,
    rejected
      ? `  not sent: ${rejected.reason}, at place ${rejected.place} of the source`
      : `  verdict: ${describeVerdict(history, formatInstant)}`,
  ];
  if (history.case) {
    const { id, state: mapping, bookingState } = history.case;
    lines.push(`  case ${id}: its mapping is ${mapping}, this booking ${bookingState ?? 'not in it'}`);
  }
  if (suspect) lines.push(`  ${describeSuspicion(suspect)}`);
  for (const [field, value] of Object.entries(history.booking ?? {}))
    lines.push(`  ${field}: ${showInLine(String(value))}`);
  for (const [label, value] of Object.entries(history.kept ?? {}))
    lines.push(`  ${label} (kept, not sent): ${showInLine(value)}`);
  if (hotels && showsHotels) lines.push(...renderPair(hotels, hotels));
  else if (hotels?.copy === 'never-synced') lines.push(`  in the copy: ${neverSynced}`);
  for (const { startedAt, step, attempt, outcome, code, httpStatus, answer } of attempts) {
    const status = httpStatus === undefined ? '' : ` (HTTP ${httpStatus})`;
    const when = formatInstant(Date.parse(startedAt));
    lines.push(`  ${when}  ${step}, attempt ${attempt}: ${outcome}, ${code}${status}`);
    // Indented, so that no line of it looks like one of ours.
    if (answer !== undefined) lines.push(`    the service said: ${answer.replaceAll('\n', '\n      ')}`);
  }
  if (history.attempts?.length === 0) lines.push('  not sent yet');
  return lines;
}
