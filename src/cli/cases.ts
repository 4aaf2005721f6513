import type { KeptValues } from '../booking/kept-values.js';
import { type CaseBooking, type HeldCase, stateOfBooking } from '../cases/case.js';
import type { CaseSummary } from '../cases/case-store.js';
import type { HotelPair } from '../mappings/hotels/compare-hotels.js';
import { toPairReport } from '../report/hotels.js';
import type { RecordedAction } from '../review/audit.js';
import { type KeptOrder, sortByKept } from '../review/verdicts/kept-order.js';
import { formatCount, formatCountOf, formatInstant } from '../text/format.js';
import type { WriteCommand } from '../text/shell.js';
import { showInLine } from '../text/visible.js';
import { pairColumns, renderPair, toPairCells } from './hotel-pair.js';
import { adviseLoad } from './hotels.js';
import { type ShownKept, toKeptRow } from './kept-columns.js';
import { renderTable } from './tables.js';

/** Rows shown on a terminal; `--csv` and `--json` list all. */
export const casesShown = 100;
const bookingsShown = 200;

export interface Compared {
  /** The master hotel that the local copy has now; null if it has none. */
  readonly copyServiceId: number | null;
  readonly hotels: HotelPair;
}

export interface ListedCase extends CaseSummary, Compared {
  /** Of the open booking that checks in next. */
  readonly kept?: KeptValues | undefined;
}

export interface ShownCase extends HeldCase, Compared {
  /** Of its bookings, by reference. */
  readonly kept?: ReadonlyMap<string, KeptValues>;
}

/** Nearest check-in first, or by a kept column. */
export function orderCases(
  cases: readonly ListedCase[],
  order: KeptOrder | undefined,
): readonly ListedCase[] {
  const sorted = cases.toSorted(byCheckIn);
  return order
    ? sortByKept(sorted, order, (item) => ({ kept: item.kept, checkIn: urgencyOf(item) }))
    : sorted;
}

/** An unknown check-in might be tomorrow. Cases without open bookings come last. */
function byCheckIn(one: ListedCase, other: ListedCase): number {
  const [first, second] = [urgencyOf(one), urgencyOf(other)];
  if (first !== second) return first < second ? -1 : 1;
  const hours = (one.hotels.hoursToCheckIn ?? 0) - (other.hotels.hoursToCheckIn ?? 0);
  return hours === 0 ? one.id - other.id : hours;
}

function urgencyOf({ openBookings, hasUnknownCheckIn, firstCheckIn }: CaseSummary): string {
  if (openBookings === 0) return '~';
  return hasUnknownCheckIn ? '' : (firstCheckIn ?? '');
}

const head = ['case', 'check-in', 'mapping', 'open', 'provider', 'hotel id', 'booked', 'copy', 'found by'];

interface ListingOptions {
  readonly command: WriteCommand;
  readonly csv?: string | undefined;
  /** What was asked for, in words. */
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
    ...(hasHotels ? [] : adviseLoad(command)),
    ...(csv === undefined ? [] : [`All of them are in ${csv}.`]),
    `For one of them: ${command('case ID')}`,
    '',
  ].join('\n');
}

function toRow(item: ListedCase): (string | number)[] {
  const { id, state, openBookings, bookings, providerName, providerHotelId, origins } = item;
  return [
    ...[id, nameCheckIn(item), state, `${openBookings} of ${bookings}`, providerName, providerHotelId],
    ...[item.serviceId, item.copyServiceId ?? '-', origins.join(', ')],
  ];
}

function nameCheckIn({ firstCheckIn, hasUnknownCheckIn, openBookings }: CaseSummary): string {
  if (openBookings === 0) return '-';
  return hasUnknownCheckIn ? 'unknown' : (firstCheckIn ?? '-');
}

/** A case as `cases --json` lists it; null stands for unknown. */
export function toCaseReport(item: ListedCase) {
  const { id, providerName, providerHotelId, serviceId, copyServiceId, state, origins, assignee, note } =
    item;
  return {
    ...{ id, providerName, providerHotelId, serviceId, copyServiceId, state, origins },
    ...{ bookings: item.bookings, openBookings: item.openBookings, firstCheckIn: item.firstCheckIn ?? null },
    openedAt: new Date(item.openedAt).toISOString(),
    stateSince: new Date(item.stateSince).toISOString(),
    ...{ move: item.move ?? null, assignee: assignee ?? null, note: note ?? null },
    ...(item.kept && { kept: item.kept }),
    ...toPairReport(item.hotels),
  };
}

const caseColumns = [
  ...['id', 'firstCheckIn', 'state', 'openBookings', 'bookings', 'providerName', 'providerHotelId'],
  ...['serviceId', 'copyServiceId', 'origins', 'move', 'openedAt', 'stateSince', 'assignee', 'note'],
];

/** The columns of `--csv`. */
export function listCaseColumns(keptLabels: readonly string[]): string[] {
  return [...caseColumns, ...keptLabels, ...pairColumns];
}

export function toCaseCells(item: ListedCase): Record<string, unknown> {
  return {
    ...item.kept,
    ...toCaseReport(item),
    origins: item.origins.join(' '),
    ...toPairCells(item.hotels),
  };
}

interface ShowOptions {
  readonly command: WriteCommand;
  /** YYYY-MM-DD, in the account's zone. */
  readonly today: string;
  readonly hasHotels: boolean;
  readonly history: readonly RecordedAction[];
  readonly shownKept: ShownKept;
}

/** One case: the mapping, its two hotels, its bookings, and what happened to it. */
export function renderCase(item: ShownCase, options: ShowOptions): string {
  const { command, today, hasHotels, history, shownKept } = options;
  const { id, providerName, providerHotelId, serviceId, copyServiceId, state, origins, move } = item;
  const bookings = inOrder(item, today, shownKept.order);
  const open = bookings.filter((booking) => stateOfBooking(booking, today) === 'open').length;
  return [
    `case ${id}: ${showInLine(providerName)} ${showInLine(providerHotelId)}, booked as ServiceId ${serviceId}`,
    `  mapping:  ${state} since ${formatInstant(item.stateSince)}; in the copy: ${describeCopy(item)}`,
    `  found by: ${origins.join(', ')}${move === undefined ? '' : ` (${move})`}, opened ${formatInstant(item.openedAt)}`,
    ...(item.assignee === undefined ? [] : [`  assigned: ${showInLine(item.assignee)}`]),
    ...(item.note === undefined ? [] : [`  note:     ${showInLine(item.note)}`]),
    ...(hasHotels ? renderPair(item.hotels, { serviceId, copyServiceId }) : adviseLoad(command)),
    `bookings: ${formatCount(open)} open of ${formatCount(bookings.length)}`,
    renderTable(
      bookings.slice(0, bookingsShown).map((booking) => toBookingRow(booking, item, options)),
      ['booking', 'check-in', 'check-out', 'state', 'named', ...shownKept.labels, 'note'],
    ),
    ...(bookings.length > bookingsShown
      ? [`  … and ${formatCount(bookings.length - bookingsShown)} more; --json lists all`]
      : []),
    ...renderHistory(history),
    ...advise(item, open, command),
    '',
  ].join('\n');
}

function describeCopy({ copyServiceId, serviceId }: ShownCase): string {
  if (copyServiceId === null) return 'no master hotel';
  return copyServiceId === serviceId ? 'the same' : `ServiceId ${copyServiceId}`;
}

/** Open ones with the nearest check-in first, or by a kept column. */
function inOrder(item: ShownCase, today: string, order: KeptOrder | undefined): readonly CaseBooking[] {
  const rank = (booking: CaseBooking) =>
    `${stateOfBooking(booking, today) === 'open' ? 0 : 1} ${booking.checkIn ?? ''}`;
  const ranked = item.bookings.map((booking) => ({ booking, key: rank(booking) }));
  ranked.sort((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0));
  const sorted = order
    ? sortByKept(ranked, order, ({ booking, key }) => ({ kept: keptOf(item, booking), checkIn: key }))
    : ranked;
  return sorted.map(({ booking }) => booking);
}

function keptOf({ kept }: ShownCase, { reference }: CaseBooking): KeptValues | undefined {
  return reference === undefined ? undefined : kept?.get(reference);
}

function toBookingRow(
  booking: CaseBooking,
  item: ShownCase,
  { today, shownKept }: Pick<ShowOptions, 'today' | 'shownKept'>,
): string[] {
  const { reference, place, checkIn = 'unknown', checkOut = 'unknown', resolved, isNamed } = booking;
  return [
    reference ?? `without a reference (#${place})`,
    checkIn,
    checkOut,
    resolved?.as ?? stateOfBooking(booking, today),
    isNamed ? 'yes' : 'no',
    ...toKeptRow(shownKept.labels, keptOf(item, booking)),
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

/** A case as `case ID --json` prints it. */
export function toShownReport(
  item: ShownCase,
  { today, history, shownKept }: Pick<ShowOptions, 'today' | 'history' | 'shownKept'>,
): Record<string, unknown> {
  const open = item.bookings.filter((booking) => stateOfBooking(booking, today) === 'open');
  const checkIns = open.flatMap(({ checkIn }) => checkIn ?? []).sort();
  const { kept: _, ...rest } = item;
  const summary: ListedCase = {
    ...rest,
    bookings: item.bookings.length,
    openBookings: open.length,
    hasUnknownCheckIn: open.length > checkIns.length,
    ...(checkIns[0] !== undefined && { firstCheckIn: checkIns[0] }),
  };
  return {
    ...toCaseReport(summary),
    bookingList: inOrder(item, today, shownKept.order).map((booking) =>
      toBookingReport(booking, today, keptOf(item, booking)),
    ),
    history: history.map(({ at, who, action, details }) => ({
      at: new Date(at).toISOString(),
      who,
      action,
      ...details,
    })),
  };
}

function toBookingReport(booking: CaseBooking, today: string, kept: KeptValues | undefined) {
  const { reference, place, checkIn, checkOut, resolved, isNamed } = booking;
  return {
    reference: reference ?? null,
    checkIn: checkIn ?? null,
    checkOut: checkOut ?? null,
    state: stateOfBooking(booking, today),
    ...(resolved && {
      resolvedAs: resolved.as,
      resolvedAt: new Date(resolved.at).toISOString(),
      note: resolved.note ?? null,
    }),
    ...{ isNamed, place },
    ...(kept && { kept }),
  };
}
