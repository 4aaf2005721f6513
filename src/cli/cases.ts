import { isInHouse } from '../booking/stay.js';
import { type CaseBooking, type HeldCase, stateOfBooking } from '../cases/case.js';
import type { CaseSummary } from '../cases/case-store.js';
import type { ListedCase } from '../cases/find-cases.js';
import type { ShownCase } from '../cases/show-case.js';
import { adviseLoad, explainCopies, nameCopy } from '../mappings/copied-hotels.js';
import { keptOf, nameCheckIn, orderBookings } from '../report/cases.js';
import type { RecordedAction } from '../review/audit.js';
import { formatCount, formatCountOf, formatInstant } from '../text/format.js';
import type { WriteCommand } from '../text/shell.js';
import { renderTable } from '../text/tables.js';
import { showInLine } from '../text/visible.js';
import { describeMissing, renderPair } from './hotel-pair.js';
import { toKeptRow } from './kept-columns.js';

/** Rows shown on a terminal; `--csv` and `--json` list all. */
export const casesShown = 100;
const bookingsShown = 200;

const head = ['case', 'check-in', 'mapping', 'open', 'provider', 'hotel id', 'booked', 'copy', 'found by'];

interface ListingOptions {
  readonly command: WriteCommand;
  readonly csv?: string | undefined;
  /** The filter in words. */
  readonly filter: string;
  /** Whether a content file was ever loaded. */
  readonly hasHotels: boolean;
  /** The kept columns to show. */
  readonly keptLabels: readonly string[];
}

export function renderCases(
  cases: readonly ListedCase[],
  { command, csv, filter, hasHotels, keptLabels }: ListingOptions,
): string {
  const open = cases.reduce((sum, { openBookings }) => sum + openBookings, 0);
  if (cases.length === 0) return `No cases${filter}.\n`;
  const first = cases.slice(0, casesShown);
  const cells = first.map((item) => [...toRow(item), ...toKeptRow(keptLabels, item.kept)]);
  const [title = '', ...rows] = renderTable(cells, [...head, ...keptLabels]).split('\n');
  const lines = hasHotels
    ? rows.flatMap((row, index) => {
        const item = first[index];
        return item ? [row, ...renderPair(item.hotels, item)] : [row];
      })
    : rows;
  return [
    `${formatCountOf(cases.length, 'case')}${filter}, ${formatCountOf(open, 'open booking')}:`,
    title,
    ...lines,
    ...(cases.length > casesShown
      ? [`  … and ${formatCount(cases.length - casesShown)} more; --csv FILE lists all`]
      : []),
    ...explainCopies(first),
    ...(hasHotels ? [] : adviseLoad(command)),
    ...(csv === undefined ? [] : [`All of them are in ${csv}.`]),
    `For one of them: ${command('case ID')}`,
    '',
  ].join('\n');
}

function toRow(item: ListedCase): (string | number)[] {
  const { id, state, openBookings, bookings, providerName, providerHotelId, origins } = item;
  return [
    ...[id, describeNext(item), state, `${openBookings} of ${bookings}`, providerName, providerHotelId],
    ...[item.serviceId, nameCopy(item, '-'), origins.join(', ')],
  ];
}

function describeNext(item: CaseSummary): string {
  if (item.openBookings > 0) return nameCheckIn(item);
  return item.leftBookings > 0 ? 'left' : '-';
}

interface ShowOptions {
  readonly command: WriteCommand;
  /** YYYY-MM-DD, in the account's zone. */
  readonly today: string;
  readonly hasHotels: boolean;
  readonly history: readonly RecordedAction[];
  /** The kept columns to show. */
  readonly keptLabels: readonly string[];
}

/** One case: the mapping, its two hotels, its bookings, and what happened to it. */
export function renderCase(item: ShownCase, options: ShowOptions): string {
  const { command, today, hasHotels, history, keptLabels } = options;
  const { id, providerName, providerHotelId, serviceId, copyServiceId, copy, state, origins, move } = item;
  const bookings = orderBookings(item, today);
  const open = bookings.filter((booking) => stateOfBooking(booking, today) === 'open').length;
  return [
    `case ${id}: ${showInLine(providerName)} ${showInLine(providerHotelId)}, booked as ServiceId ${serviceId}`,
    `  mapping:  ${state} since ${formatInstant(item.stateSince)}; in the copy: ${describeCopy(item)}`,
    `  found by: ${origins.join(', ')}${move === undefined ? '' : ` (${move})`}, opened ${formatInstant(item.openedAt)}`,
    ...(item.assignee === undefined ? [] : [`  assigned: ${showInLine(item.assignee)}`]),
    ...(item.note === undefined ? [] : [`  note:     ${showInLine(item.note)}`]),
    ...(hasHotels ? renderPair(item.hotels, { serviceId, copyServiceId, copy }) : adviseLoad(command)),
    `bookings: ${formatCount(open)} open of ${formatCount(bookings.length)}`,
    renderTable(
      bookings.slice(0, bookingsShown).map((booking) => toBookingRow(booking, item, options)),
      ['booking', 'check-in', 'check-out', 'state', 'named', ...keptLabels, 'note'],
    ),
    ...(bookings.length > bookingsShown
      ? [`  … and ${formatCount(bookings.length - bookingsShown)} more; --json lists all`]
      : []),
    ...renderHistory(history),
    ...advise(item, open, command),
    '',
  ].join('\n');
}

function describeCopy({ copyServiceId, copy, serviceId }: ShownCase): string {
  if (copyServiceId === null) return describeMissing(copy);
  return copyServiceId === serviceId ? 'the same' : `ServiceId ${copyServiceId}`;
}

function toBookingRow(
  booking: CaseBooking,
  item: ShownCase,
  { today, keptLabels }: Pick<ShowOptions, 'today' | 'keptLabels'>,
): string[] {
  const { reference, place, checkIn = 'unknown', checkOut = 'unknown', resolved, isNamed } = booking;
  const state = stateOfBooking(booking, today);
  return [
    reference ?? `without a reference (#${place})`,
    checkIn,
    checkOut,
    resolved?.as ?? (isInHouse(booking, today) ? `${state}, in house` : state),
    isNamed ? 'yes' : 'no',
    ...toKeptRow(keptLabels, keptOf(item, booking)),
    resolved?.note ?? '',
  ];
}

function renderHistory(history: readonly RecordedAction[]): string[] {
  if (history.length === 0) return [];
  const rows = history.map(({ at, who, action }) => [formatInstant(at), who, action.replace(/^case-/, '')]);
  return ['history:', renderTable(rows)];
}

function advise({ id, state }: HeldCase, open: number, command: WriteCommand): string[] {
  const steps: string[] = [];
  if (state === 'open') steps.push(`reported to the service? ${command(`case ${id} report`)}`);
  if (open > 0) steps.push(`a guest is helped? ${command(`case ${id} resolve REFERENCE --as rebooked`)}`);
  return steps;
}
