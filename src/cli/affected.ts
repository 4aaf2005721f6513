import { guestNameFields, serviceFields } from '../booking/booking.js';
import type { Run } from '../review/run.js';
import { formatCount } from '../text/format.js';
import type { WriteCommand } from '../text/shell.js';
import { isClear } from './file-summary.js';
import { renderTable } from './tables.js';

/** Rows shown on a terminal; `--csv` and `--json` list all. */
const shown = 200;

const columns = [
  'BookingReferenceId',
  'ServiceId',
  'ProviderName',
  'ProviderHotelId',
  'CheckInDate',
] as const;

/** The affected bookings of a day, or why none are known. */
export function renderAffected(
  day: string,
  run: Run | undefined,
  affected: readonly Record<string, unknown>[],
  { command, csv }: { readonly command: WriteCommand; readonly csv?: string | undefined },
): string {
  if (!run) return `There is no run of ${day}.\n`;
  if (run.delivery === 'body')
    return `${day} was reviewed by body: the service reports affected bookings only by e-mail (run ${run.id}).\n`;
  if (!run.file?.verdicts) return `No result of ${day} has arrived yet: run ${run.id} is ${run.state}.\n`;
  if (affected.length === 0) {
    const doubt = isClear(run.file.verdicts)
      ? ''
      : `, but it has no clear verdict on some: ${command(`status ${day}`)}`;
    return `${day}: the result marks no booking as affected${doubt} (run ${run.id}).\n`;
  }
  const rows = affected
    .slice(0, shown)
    .map((booking) => columns.map((column) => String(booking[column] ?? '')));
  return [
    `${day}: affected bookings: ${formatCount(affected.length)} (run ${run.id})`,
    renderTable(rows, columns),
    ...(affected.length > shown
      ? [`  … and ${formatCount(affected.length - shown)} more; --csv FILE lists all`]
      : []),
    ...(csv === undefined ? [] : [`All of them are in ${csv}.`]),
    '',
  ].join('\n');
}

/** The columns of `--csv`: all but guests' names. */
export const affectedColumns = serviceFields.filter((field) => !guestNameFields.has(field));
