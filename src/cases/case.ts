import { checkOutOf, isInHouse, isOver } from '../booking/stay.js';
import type { ProviderHotel } from '../ledger/mappings.js';

/** What a case is about: a provider's hotel, and the master hotel it was booked as. Each pair has one case. */
export interface CaseKey extends ProviderHotel {
  readonly serviceId: number;
}

/** Who found it: a result, a verdict e-mail, the comparison with the local copy of the mappings, or the watch. */
export type CaseOrigin = 'affected' | 'email' | 'suspect' | 'watch';

/** What happened to the mapping, judged by the local copy alone. */
export type CaseMove = 're-pointed' | 'merged' | 'unmapped';

/** The state of the mapping. It says nothing about the guests: a corrected mapping does not change a booking. */
export const mappingStates = ['open', 'reported', 'escalated', 'corrected', 'dismissed'] as const;
export type MappingState = (typeof mappingStates)[number];

/** What was done for a guest. */
export const resolutions = ['rebooked', 'confirmed', 'cancelled'] as const;
export type Resolution = (typeof resolutions)[number];

/** A wrong or doubtful mapping. Instants are epoch milliseconds. */
export interface Case extends CaseKey {
  /** From 1. */
  readonly id: number;
  readonly state: MappingState;
  readonly stateSince: number;
  /** In the order in which they were added. */
  readonly origins: readonly CaseOrigin[];
  readonly move?: CaseMove;
  readonly openedAt: number;
  /** The finding that opened or reopened it: only a later move of the mapping corrects it. */
  readonly evidenceAt: number;
  /** The first move that the watch found, if any: a deletion after it corrects nothing. */
  readonly watchedSince?: number;
  /** The move that corrected it, for a corrected case. */
  readonly correctedBy?: number;
  readonly assignee?: string;
  readonly note?: string;
}

/** A booking of a case, in its latest version. */
export interface CaseBooking {
  /** From 1, within its case. */
  readonly place: number;
  readonly reference?: string;
  /** YYYY-MM-DD */
  readonly checkIn?: string;
  readonly checkOut?: string;
  /** The business day of that version. */
  readonly day: string;
  readonly addedAt: number;
  /** Whether a verdict or an e-mail named it; otherwise it only has the same mapping. */
  readonly isNamed: boolean;
  readonly resolved?: BookingResolution;
}

export interface BookingResolution {
  readonly as: Resolution;
  readonly at: number;
  readonly note?: string;
  /** True if a newer version of the booking, with another hotel, resolved it. */
  readonly isAutomatic: boolean;
}

/** A case with all of its bookings. */
export interface HeldCase extends Case {
  /** In the order of their places. */
  readonly bookings: readonly CaseBooking[];
}

/** `left`: the stay is over, and nobody has resolved the booking. */
export type BookingState = 'open' | 'resolved' | 'left';

/** @param today YYYY-MM-DD, in the account's zone */
export function stateOfBooking(
  booking: Pick<CaseBooking, 'resolved' | 'checkIn' | 'checkOut'>,
  today: string,
): BookingState {
  if (booking.resolved) return 'resolved';
  return isOver(booking, today) ? 'left' : 'open';
}

/** The bookings of a case in short. */
export interface BookingSummary {
  readonly bookings: number;
  readonly openBookings: number;
  /** Those that nobody resolved before the stay was over. */
  readonly leftBookings: number;
  /** Open bookings of guests who are in house. */
  readonly inHouse: number;
  /** When the last of these checks out, if known. */
  readonly inHouseUntil?: string;
  /** The earliest known check-in of its open bookings: in the past while a guest is in house. */
  readonly firstCheckIn?: string;
  /** Whether the check-in of an open booking is unknown: it might be tomorrow. */
  readonly hasUnknownCheckIn: boolean;
}

/** @param today YYYY-MM-DD, in the account's zone */
export function summariseBookings(bookings: readonly CaseBooking[], today: string): BookingSummary {
  const open = bookings.filter((booking) => stateOfBooking(booking, today) === 'open');
  const inHouse = open.filter((booking) => isInHouse(booking, today));
  const checkIns = open.flatMap(({ checkIn }) => checkIn ?? []).sort();
  const until = inHouse.flatMap((booking) => checkOutOf(booking) ?? []).sort();
  const [firstCheckIn, inHouseUntil] = [checkIns[0], until.at(-1)];
  return {
    bookings: bookings.length,
    openBookings: open.length,
    leftBookings: bookings.filter((booking) => stateOfBooking(booking, today) === 'left').length,
    inHouse: inHouse.length,
    ...(inHouseUntil !== undefined && { inHouseUntil }),
    ...(firstCheckIn !== undefined && { firstCheckIn }),
    hasUnknownCheckIn: open.length > checkIns.length,
  };
}

/** Whether somebody still has to act on the mapping. */
export function isActiveCase({ state }: Pick<Case, 'state'>): boolean {
  switch (state) {
    case 'open':
    case 'reported':
    case 'escalated':
      return true;
    case 'corrected':
    case 'dismissed':
      return false;
  }
}

/** A unique key: provider names and hotel ids hold no NUL. */
export function keyOfCase({ providerName, providerHotelId, serviceId }: CaseKey): string {
  return `${providerName}\0${providerHotelId}\0${serviceId}`;
}
