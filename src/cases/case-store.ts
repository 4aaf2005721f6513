import type { ProviderHotel } from '../mappings/mapping-copy.js';
import type { RecordedAction } from '../review/audit.js';
import type { Ledger, ReadOnlyLedger } from '../review/ledger.js';
import type { Case, CaseBooking, CaseKey, HeldCase, MappingState } from './case.js';

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
 * case-transitions.ts decides what happens to a case; the store reads and writes it, and records it in the
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
  /** Those that were opened between two instants, both included, in the order of their ids. */
  listOpened(between: { readonly from: number; readonly to: number }): Promise<readonly Case[]>;
  find(id: number): Promise<HeldCase | undefined>;
  /** The cases of these keys, in the same order. At most 1,000 per call. */
  findByKeys(keys: readonly CaseKey[]): Promise<(Case | undefined)[]>;
  /** Every booking with that reference. */
  findBookings(reference: string): Promise<readonly FoundBooking[]>;
  /** By case id, the reference of the most urgent open booking: of a guest in house, or else the next to check in. At most 1,000 per call. */
  findNextReferences(ids: readonly number[], today: string): Promise<ReadonlyMap<number, string>>;
  /** The next of those whose mapping is not corrected or dismissed, in the order of their ids. */
  listActive(page: { readonly after: number; readonly limit: number }): Promise<readonly Case[]>;
  /** The active cases whose mapping moved after the evidence. */
  listMoved(): Promise<readonly MovedCase[]>;
  /** The cases that have been in the state `reported` since before that instant. */
  listReported(before: number): Promise<readonly number[]>;
  /** The next unresolved bookings that have a reference and whose stay is not over, by case and place. */
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

/** What the watch must read, and how far it has got. Contains no guest data. */
export interface WatchStore {
  /** The mappings of the oldest moves that no watch has compared with the current and upcoming stays. */
  nextMoves(limit: number): Promise<MovedMappings | undefined>;
  /** Records that all moves up to that number are compared, and their findings are recorded. Never goes back. */
  finishMoves(upTo: number): Promise<void>;
  /** What the copy knows about these master hotels. */
  readMasterHotels(serviceIds: readonly number[]): Promise<ReadonlyMap<number, MasterHotel>>;
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
