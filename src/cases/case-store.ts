import type { RecordedAction } from '../review/audit.js';
import type { Ledger, ReadOnlyLedger } from '../review/ledger.js';
import type { BookingSummary, Case, CaseBooking, CaseKey, HeldCase, MappingState } from './case.js';
import type { WatchStore } from './watch-store.js';

/** A ledger with cases. */
export interface CaseLedger extends Ledger {
  readonly cases: CaseStore;
  readonly watch: WatchStore;
}

export interface ReadOnlyCaseLedger extends ReadOnlyLedger {
  readonly cases: CaseReader;
}

/**
 * The cases. They hold references and stays of bookings, but no guest's name.
 *
 * case-transitions.ts and case-commands.ts decide what happens to a case; the store reads and writes it, and records it in the
 * audit trail. `Retention` removes the bookings of old days, and the cases left without any.
 */
export interface CaseStore extends CaseReader {
  /**
   * Reads the case of each key, lets `decide` decide about it, and writes the decision, all in one transaction. A decision for a
   * key without a case opens one. Returns the changed cases, as they are afterwards.
   *
   * @param decide may be called again for the same key after a lost connection
   */
  changeByKey<Key extends CaseKey>(
    keys: readonly Key[],
    decide: (held: HeldCase | undefined, key: Key) => CaseDecision | undefined,
  ): Promise<readonly Case[]>;
  /** The same for existing cases; unknown ids are skipped. */
  changeById(
    ids: readonly number[],
    decide: (held: HeldCase) => CaseDecision | undefined,
  ): Promise<readonly Case[]>;
  markFollowed(marks: readonly FollowedRun[]): Promise<void>;
  /** Removes a booking from all cases. Returns how many rows held it. */
  eraseReference(reference: string): Promise<number>;
  /** Removes what people wrote about a booking. Returns how many rows held something. */
  eraseNotes(reference: string): Promise<number>;
}

export interface CaseReader {
  /** In the order of their ids. */
  list(filter: CaseFilter): Promise<CaseSummary[]>;
  /** The same cases, with only what searching and ordering need: several times faster for thousands of cases. */
  listOutlines(filter: CaseFilter): Promise<CaseOutline[]>;
  /** Those that were opened between two instants, both included, in the order of their ids. */
  listOpened(between: { readonly from: number; readonly to: number }): Promise<OpenedCase[]>;
  find(id: number): Promise<HeldCase | undefined>;
  /** The cases of these keys, in the same order. At most 1,000 per call. */
  findByKeys(keys: readonly CaseKey[]): Promise<(Case | undefined)[]>;
  /** Every booking with that reference. */
  findBookings(reference: string): Promise<readonly FoundBooking[]>;
  /** By case id, the reference of the most urgent open booking: of a guest in house, or else the next to check in. At most 1,000 per call. */
  findNextReferences(ids: readonly number[], today: string): Promise<ReadonlyMap<number, string>>;
  /** Those whose mapping is not corrected or dismissed. */
  listActive(): Promise<readonly Case[]>;
  /** The keys of the active cases, in the order of their ids. */
  listActiveKeys(page: CasePage): Promise<readonly ActiveKey[]>;
  /** The active cases whose mapping moved after the evidence. */
  listMoved(): Promise<readonly MovedCase[]>;
  /** The cases that have been in the state `reported` since before that instant. */
  listReported(before: number): Promise<readonly number[]>;
  /** The unresolved bookings that have a reference and whose stay is not over, by case and place. */
  listOpenReferences(today: string, page: ReferencePage): Promise<readonly OpenReference[]>;
  /** The collected runs that are not completely followed up, the oldest first. */
  listRunsToFollow(): Promise<readonly FollowedRun[]>;
  /** @param today YYYY-MM-DD, in the account's zone */
  count(today: string): Promise<CaseCounts>;
}

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
