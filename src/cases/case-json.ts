import { describeInHouse, urgencyOf } from '../booking/stay.js';
import { type RecordedAction, readActions } from '../ledger/audit.js';
import { type BookingState, stateOfBooking } from '../ledger/case.js';
import type { ReadOnlyLedger } from '../ledger/ledger.js';
import { pairColumns, pairToCells, pairToJson } from '../mappings/hotels/shown-hotels.js';

import { compare, compareCases, type ListedCase, nothingKnown } from './find-cases.js';

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
  readonly firstCheckIn?: string | null | undefined;
  readonly hasUnknownCheckIn?: boolean;
  readonly inHouse: number;
  readonly inHouseUntil?: string | null | undefined;
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

/** A case with its hotels, its bookings and what was done about it. */
export type ShownCase = NonNullable<Awaited<ReturnType<typeof showCase>>>;

/**
 * Undefined if there is no such case.
 *
 * @param today YYYY-MM-DD, in the account's zone
 * @param labels the configured kept columns
 */
export async function showCase(
  ledger: ReadOnlyLedger,
  id: number,
  {
    today,
    now,
    labels,
  }: { readonly today: string; readonly now: number; readonly labels: readonly string[] },
) {
  const held = await ledger.cases.find(id);
  const [summary] = held ? await ledger.cases.list({ state: 'all', ids: [id], today }) : [];
  if (!held || !summary) return undefined;
  const [compared = nothingKnown] = await compareCases(ledger, [summary], now);
  const references = held.bookings.flatMap(({ reference }) => reference ?? []);
  const kept = labels.length > 0 ? await ledger.bookings.findKept(references) : undefined;
  const history: RecordedAction[] = [];
  for await (const actions of readActions(ledger.audit, { subject: `case ${id}` }))
    history.push(...actions.filter(({ action }) => action !== 'case'));
  return {
    ...summary,
    ...compared,
    /** Open ones first: of guests in house, then with the nearest check-in. */
    bookingList: held.bookings
      .map((booking) => ({
        ...booking,
        state: stateOfBooking(booking, today),
        kept: kept?.get(booking.reference ?? ''),
        urgency: urgencyOf(booking, today),
      }))
      .sort((one, other) => compare(rankOf(one), rankOf(other))),
    /** Who changed it, and when, oldest entry first. Looks are left out. */
    history,
  };
}

function rankOf({ state, urgency }: { readonly state: BookingState; readonly urgency: string }): string {
  return `${state === 'open' ? 0 : 1} ${urgency}`;
}

/** A case as `case ID --json` prints it. */
export function shownCaseToJson(item: ShownCase) {
  return {
    ...caseToJson(item),
    bookingList: item.bookingList.map(
      ({ reference, place, checkIn, checkOut, resolved, isNamed, state, kept }) => ({
        reference: reference ?? null,
        checkIn: checkIn ?? null,
        checkOut: checkOut ?? null,
        state,
        ...(resolved && {
          resolvedAs: resolved.as,
          resolvedAt: new Date(resolved.at).toISOString(),
          note: resolved.note ?? null,
        }),
        ...{ isNamed, place },
        ...(kept && { kept }),
      }),
    ),
    history: item.history.map(({ at, who, action, details }) => ({
      ...{ at: new Date(at).toISOString(), who, action },
      ...details,
    })),
  };
}
