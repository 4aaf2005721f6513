import type { KeptValues } from '../booking/kept-values.js';
import { describeInHouse, urgencyOf } from '../booking/stay.js';
import type { RecordedAction } from '../ledger/audit.js';
import { pairColumns, pairToCells, pairToJson } from '../mappings/hotels/shown-hotels.js';
import { type CaseBooking, stateOfBooking, summariseBookings } from './case.js';
import type { ListedCase } from './find-cases.js';
import type { ShownCase } from './show-case.js';

/** A case as `cases --json` lists it; null stands for unknown. */
export function caseToJson(item: ListedCase) {
  const {
    id,
    providerName,
    providerHotelId,
    serviceId,
    copyServiceId,
    copy,
    state,
    origins,
    assignee,
    note,
  } = item;
  return {
    ...{ id, providerName, providerHotelId, serviceId, copyServiceId, copy, state, origins },
    ...{ bookings: item.bookings, openBookings: item.openBookings, firstCheckIn: item.firstCheckIn ?? null },
    // A booking without a check-in may be for tomorrow.
    hasUnknownCheckIn: item.hasUnknownCheckIn,
    ...{ inHouse: item.inHouse, inHouseUntil: item.inHouseUntil ?? null, leftBookings: item.leftBookings },
    openedAt: new Date(item.openedAt).toISOString(),
    stateSince: new Date(item.stateSince).toISOString(),
    ...{ move: item.move ?? null, assignee: assignee ?? null, note: note ?? null },
    ...(item.kept && { kept: item.kept }),
    ...pairToJson(item.hotels),
  };
}

const caseColumns = [
  ...['id', 'firstCheckIn', 'state', 'openBookings', 'bookings', 'inHouse', 'inHouseUntil', 'leftBookings'],
  ...['providerName', 'providerHotelId'],
  ...['serviceId', 'copyServiceId', 'copy', 'origins', 'move', 'openedAt', 'stateSince', 'assignee', 'note'],
];

/** When help is needed, for people. */
export function nameCheckIn({
  firstCheckIn,
  hasUnknownCheckIn,
  inHouse,
  inHouseUntil,
}: {
  readonly firstCheckIn?: string | null;
  readonly hasUnknownCheckIn?: boolean;
  readonly inHouse: number;
  readonly inHouseUntil?: string | null;
}): string {
  if (inHouse > 0) return describeInHouse(firstCheckIn ?? 'an unknown day', inHouseUntil);
  return hasUnknownCheckIn ? 'unknown' : (firstCheckIn ?? 'unknown');
}

/** The columns of `--csv`. */
export function listCaseColumns(keptLabels: readonly string[]): string[] {
  return [...caseColumns, ...keptLabels, ...pairColumns];
}

export function caseToCells(item: ListedCase): Record<string, unknown> {
  return {
    ...item.kept,
    ...caseToJson(item),
    origins: item.origins.join(' '),
    ...pairToCells(item.hotels),
  };
}

interface ShownOptions {
  /** YYYY-MM-DD, in the account's zone. */
  readonly today: string;
  readonly history: readonly RecordedAction[];
}

/** A case as `case ID --json` prints it. */
export function shownCaseToJson(item: ShownCase, { today, history }: ShownOptions) {
  const { kept: _, ...rest } = item;
  const summary: ListedCase = { ...rest, ...summariseBookings(item.bookings, today) };
  return {
    ...caseToJson(summary),
    bookingList: orderBookings(item, today).map((booking) =>
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

/** Open ones first: of guests in house, then with the nearest check-in. */
export function orderBookings({ bookings }: ShownCase, today: string): readonly CaseBooking[] {
  const rank = (booking: CaseBooking) =>
    `${stateOfBooking(booking, today) === 'open' ? 0 : 1} ${urgencyOf(booking, today)}`;
  const ranked = bookings.map((booking) => ({ booking, key: rank(booking) }));
  ranked.sort((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0));
  return ranked.map(({ booking }) => booking);
}

export function keptOf({ kept }: ShownCase, { reference }: CaseBooking): KeptValues | undefined {
  return reference === undefined ? undefined : kept?.get(reference);
}
