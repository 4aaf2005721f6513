import type { RecordedAction } from '../ledger/audit.js';

import type { BookingSummary, Case, CaseBooking, CaseKey, MappingState } from './case.js';

/** How much there is to do. Bookings of dismissed cases need no action, and are not counted. */
export interface CaseCounts {
  readonly byState: Readonly<Record<MappingState, number>>;
  /** Open bookings, and those of them whose check-in is unknown: it might be tomorrow. */
  readonly openBookings: number;
  readonly unknownCheckIns: number;
  /** Those of guests who are in house. */
  readonly inHouse: number;
  /** The earliest check-in of an open booking, YYYY-MM-DD: in the past while a guest is in house. */
  readonly firstCheckIn?: string;
}

/** The decision about a case. */
export interface CaseDecision {
  readonly case: Omit<Case, 'id' | keyof CaseKey>;
  /** The new and changed ones. */
  readonly bookings: readonly CaseBooking[];
  /** For the audit trail; the subject is the case unless one is named. */
  readonly actions: readonly RecordedAction[];
}

export interface CaseFilter {
  /** Without one: every case with an open booking or, if asked for, with one that was never resolved. */
  readonly state?: MappingState | 'all' | undefined;
  /** Only cases with a booking that nobody resolved before the stay was over. */
  readonly left?: boolean | undefined;
  readonly ids?: readonly number[] | undefined;
  readonly provider?: string | undefined;
  /** Only cases with an open booking whose check-in is before this day, or unknown. */
  readonly checkInBefore?: string | undefined;
  /** Only cases with an open booking of this business day. */
  readonly day?: string | undefined;
  /** YYYY-MM-DD, in the account's zone. */
  readonly today: string;
}

export interface CaseSummary extends Case, BookingSummary {}

export interface CaseOutline
  extends CaseKey,
    Pick<CaseSummary, 'id' | 'state' | 'assignee' | 'openBookings' | 'firstCheckIn' | 'hasUnknownCheckIn'>,
    Pick<CaseSummary, 'inHouse' | 'inHouseUntil'> {
  /** The nearest known check-in of guests who have still to arrive. */
  readonly nextCheckIn?: string;
  /** The master hotel in the local copy of the mappings; null if it has none. */
  readonly copyServiceId: number | null;
}

export type OpenedCase = Pick<
  Case,
  'id' | 'providerName' | 'providerHotelId' | 'state' | 'stateSince' | 'openedAt' | 'correctedBy'
>;

export interface FoundBooking {
  readonly id: number;
  readonly booking: CaseBooking;
}

/** A move of a mapping; `to` is absent if it was deleted. */
export interface LaterMove {
  readonly to?: number;
  readonly seenAt: number;
}

export interface MovedCase {
  readonly id: number;
  /** The moves after its evidence, oldest first. */
  readonly moves: readonly LaterMove[];
}

export interface OpenReference extends CaseKey, Pick<CaseBooking, 'place' | 'checkIn' | 'checkOut'> {
  readonly id: number;
  readonly reference: string;
  /** The business day of the version that the case holds. */
  readonly day: string;
}

export interface ActiveKey extends CaseKey {
  readonly id: number;
}

/** Only cases with an id greater than `after` and smaller than `before`. */
export interface CasePage {
  readonly after?: number | undefined;
  readonly before?: number | undefined;
  readonly limit: number;
}

export interface ReferencePage extends CasePage {
  /** Also bookings of the case `after` behind this place. */
  readonly afterPlace?: number | undefined;
}

/** How far a run has been followed up. */
export interface FollowedRun {
  readonly runId: string;
  /** Whether its bookings and suspects have been followed up. */
  readonly hasBookings: boolean;
  /** Whether its result has been, too, or none will come. */
  readonly isComplete: boolean;
}
