import type { RecordedAction } from '../ledger/audit.js';
import type { ProviderHotel } from '../ledger/mappings.js';
import type { Case, CaseBooking, CaseKey, MappingState } from './case.js';

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

/** A case, and its bookings in short. */
export interface CaseSummary extends Case {
  readonly bookings: number;
  readonly openBookings: number;
  /** Those that nobody resolved before the stay was over. */
  readonly leftBookings: number;
  /** Open bookings of guests who are in house. */
  readonly inHouse: number;
  /** When the last of these checks out, if known. */
  readonly inHouseUntil?: string | undefined;
  /** The earliest known check-in of its open bookings: in the past while a guest is in house. */
  readonly firstCheckIn?: string | undefined;
  /** The nearest known check-in of guests who have still to arrive. */
  readonly nextCheckIn?: string | undefined;
  /** Whether the check-in of an open booking is unknown: it might be tomorrow. */
  readonly hasUnknownCheckIn: boolean;
}

export interface FoundBooking {
  readonly id: number;
  readonly booking: CaseBooking;
}

/** A move of a mapping; `to` is undefined if it was deleted. */
export interface LaterMove {
  readonly to?: number | undefined;
  readonly seenAt: number;
}

export interface MovedCase {
  readonly id: number;
  /** The moves after its evidence, oldest first. */
  readonly moves: readonly LaterMove[];
}

/** Of a booking. */
export interface OpenReference {
  /** Of its case. */
  readonly id: number;
  readonly place: number;
  readonly reference: string;
}

/** Only bookings behind this one. */
export interface ReferencePage {
  readonly after?: Pick<OpenReference, 'id' | 'place'> | undefined;
  readonly limit: number;
}

/** How far a run has been followed up. */
export interface FollowedRun {
  readonly runId: string;
  /** Whether its bookings and suspects have been followed up. */
  readonly hasBookings: boolean;
  /** Whether its result has been, too, or none will come. */
  readonly isComplete: boolean;
}

export interface MovedMappings {
  /** The number of moves. */
  readonly moves: number;
  /** The number of the last one. */
  readonly upTo: number;
  /** Each mapping once, however often it moved. */
  readonly mappings: readonly MovedMapping[];
}

export interface MovedMapping extends ProviderHotel {
  /** Its master hotel in the copy; undefined if the mapping was deleted. */
  readonly copyServiceId?: number | undefined;
  /** When it last moved, in epoch milliseconds. */
  readonly movedAt: number;
}

/** What the copy knows about a master hotel. */
export interface MasterHotel {
  /** How many provider hotels are mapped to it. */
  readonly hotels: number;
  /** The provider hotels that are no longer mapped to it. */
  readonly left: readonly LeftHotel[];
}

export interface LeftHotel {
  readonly providerName: string;
  /** Its master hotel now; undefined if its mapping was deleted. */
  readonly copyServiceId?: number | undefined;
}
