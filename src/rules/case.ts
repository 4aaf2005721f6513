import type { ProviderHotel } from '../booking/booking.js';
import { isOver, type StayDates } from '../booking/stay.js';
import type { RecordedAction } from './action.js';

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
  readonly move?: CaseMove | undefined;
  readonly openedAt: number;
  /** The finding that opened or reopened it: only a later move of the mapping corrects it. */
  readonly evidenceAt: number;
  /** The first move that the watch found, if any: a deletion after it corrects nothing. */
  readonly watchedSince?: number | undefined;
  /** The move that corrected it, for a corrected case. */
  readonly correctedBy?: number | undefined;
  readonly assignee?: string | undefined;
  readonly note?: string | undefined;
}

/** A stay on the mapping of a case, in the latest version of its booking. */
export interface CaseStay {
  readonly reference?: string | undefined;
  /** YYYY-MM-DD */
  readonly checkIn?: string | undefined;
  readonly checkOut?: string | undefined;
  /** The business day of that version. */
  readonly day: string;
}

/** A booking of a case. */
export interface CaseBooking extends CaseStay {
  /** From 1, within its case. */
  readonly place: number;
  readonly addedAt: number;
  /** Whether a verdict or an e-mail named it; otherwise it only has the same mapping. */
  readonly isNamed: boolean;
  /** The latest run whose result calls it correct, although it was named: that resolves nothing. */
  readonly calledCorrectBy?: string | undefined;
  readonly resolved?: BookingResolution | undefined;
}

export interface BookingResolution {
  readonly as: Resolution;
  readonly at: number;
  readonly note?: string | undefined;
  /** True if a newer version of the booking, with another hotel, resolved it. */
  readonly isAutomatic: boolean;
}

/** A case with all of its bookings. */
export interface HeldCase extends Case {
  /** In the order of their places. */
  readonly bookings: readonly CaseBooking[];
}

/** A case that may have no id yet. */
export type CaseContent = Omit<HeldCase, 'id' | keyof CaseKey>;

/** `left`: the stay is over, and nobody has resolved the booking. */
export type BookingState = 'open' | 'resolved' | 'left';

/** @param today YYYY-MM-DD, in the account's zone */
export function stateOfBooking(
  booking: StayDates & Pick<CaseBooking, 'resolved'>,
  today: string,
): BookingState {
  if (booking.resolved) return 'resolved';
  return isOver(booking, today) ? 'left' : 'open';
}

/** Whether somebody still has to act on the mapping. */
export function isActiveCase({ state }: Pick<Case, 'state'>): boolean {
  return state !== 'corrected' && state !== 'dismissed';
}

/** A unique key: provider names and hotel ids hold no NUL. */
export function keyOfCase({ providerName, providerHotelId, serviceId }: CaseKey): string {
  return `${providerName}\0${providerHotelId}\0${serviceId}`;
}

/** The decision about a case. */
export interface CaseDecision {
  readonly case: Omit<Case, 'id' | keyof CaseKey>;
  /** The new and changed ones. */
  readonly bookings: readonly CaseBooking[];
  /** For the audit trail; the subject is the case unless one is named. */
  readonly actions: readonly RecordedAction[];
}

/** A move of a mapping; `to` is undefined if it was deleted. */
export interface LaterMove {
  readonly to?: number | undefined;
  readonly seenAt: number;
}
