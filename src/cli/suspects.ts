import { describeCheckIn } from '../booking/stay.js';
import type { Run } from '../review/run.js';
import type { SuspectReport, Suspicion } from '../review/suspects/listing.js';
import { formatCount, formatCountOf } from '../text/format.js';
import type { WriteCommand } from '../text/shell.js';
import { toKeptRow } from './kept-columns.js';
import { renderTable } from './tables.js';

/** Rows shown on a terminal; `--csv` and `--json` list all. */
export const suspectsShown = 200;

const head = ['booking', 'ServiceId', 'provider', 'hotel id', 'check-in', 'in the copy'];

/** The part of a run's summary about its suspects; empty if there are none. */
export function renderSuspectSummary({ day, suspects }: Run, command: WriteCommand): string[] {
  if (!suspects) return [];
  return [
    'what the local copy of the mappings says:',
    explainSuspects(suspects),
    `  all of them: ${command(`suspects ${day}`)}`,
  ];
}

/** The first suspects of a day, or why none are known. */
export function renderSuspects(
  day: string,
  run: Run | undefined,
  { count, first }: { readonly count: number; readonly first: readonly SuspectReport[] },
  {
    command,
    csv,
    keptLabels = [],
    today,
  }: {
    readonly command: WriteCommand;
    readonly csv?: string | undefined;
    readonly keptLabels?: readonly string[];
    /** YYYY-MM-DD, in the account's zone. */
    readonly today: string;
  },
): string {
  if (!run) return `There is no run of ${day}.\n`;
  if (run.suspects === undefined)
    return [
      `${day} was not compared with the local copy of the mappings, which was empty`,
      `when run ${run.id} started. To fill it: ${command('mappings sync')}`,
      '',
    ].join('\n');
  if (count === 0) return `${day}: the local copy of the mappings flags no booking (run ${run.id}).\n`;
  return [
    `${day}: what the local copy of the mappings says (run ${run.id}):`,
    explainSuspects(count),
    renderTable(
      first.map((suspect) => [...toRow(suspect, today), ...toKeptRow(keptLabels, suspect.kept)]),
      [...head, ...keptLabels],
    ),
    ...(count > first.length
      ? [`  … and ${formatCount(count - first.length)} more; --csv FILE lists all`]
      : []),
    ...(csv === undefined ? [] : [`All of them are in ${csv}.`]),
    '',
  ].join('\n');
}

/** The number of flagged bookings. */
export function explainSuspects(suspects: number): string {
  return `  suspects: ${formatCountOf(suspects, 'booking')} whose mapping differs or changed recently`;
}

function toRow(suspect: SuspectReport, today: string): (string | undefined)[] {
  const { BookingReferenceId, ServiceId, ProviderName, ProviderHotelId } = suspect;
  const stay = { checkIn: suspect.CheckInDate, checkOut: suspect.CheckOutDate };
  return [
    BookingReferenceId,
    String(ServiceId),
    ProviderName,
    ProviderHotelId,
    describeCheckIn(stay, today),
    nameSuspicion(suspect),
  ];
}

function nameSuspicion({ reason, copyServiceId, movedAt }: Suspicion): string {
  switch (reason) {
    case 'other-master':
      return String(copyServiceId);
    case 'moved':
      return `${copyServiceId === null ? 'deleted' : 'moved'} ${movedAt?.slice(0, 10) ?? ''}`;
  }
}

const suspectColumns: readonly (keyof SuspectReport)[] = [
  'BookingReferenceId',
  'ServiceId',
  'ProviderName',
  'ProviderHotelId',
  'CheckInDate',
  'CheckOutDate',
  'reason',
  'copyServiceId',
  'copy',
  'movedAt',
];

/** The columns of `--csv`. */
export function listSuspectColumns(keptLabels: readonly string[]): string[] {
  return [...suspectColumns, ...keptLabels];
}

/** A suspect under those columns. */
export function toSuspectCells({ kept, ...suspect }: SuspectReport): object {
  return { ...kept, ...suspect };
}
