import type { RecordedAction } from '../review/audit.js';
import type { Ledger, ReadOnlyLedger } from '../review/ledger.js';
import type { Case, CaseBooking, CaseKey, HeldCase, MappingState } from './case.js';
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
 * The cases. They hold references and stays of bookings, and no guest's name.
 *
 * case-transitions.ts and case-commands.ts decide what happens to a case; the store reads, applies, and records it in the audit trail. The
 * bookings of old days are removed by `Retention`, with the cases that are left without any.
 */
export interface CaseStore extends CaseReader {
  /**
   * Reads the case of each key, asks `decide` what becomes of it, and writes that, all in one transaction. A decision for a
   * key without a case opens one. Returns the cases that were changed, as they are then.
   *
   * @param decide may be called again for the same key when a connection was lost
   */
  changeByKey<Key extends CaseKey>(
    keys: readonly Key[],
    decide: (held: HeldCase | undefined, key: Key) => CaseDecision | undefined,
  ): Promise<readonly Case[]>;
  /** The same for cases that exist; unknown ids are skipped. */
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
  /** The same cases, with what only searching and ordering them needs: several times as fast where there are thousands. */
  listOutlines(filter: CaseFilter): Promise<CaseOutline[]>;
  /** Those that were opened between two instants, both included, in the order of their ids. */
  listOpened(between: { readonly from: number; readonly to: number }): Promise<OpenedCase[]>;
  find(id: number): Promise<HeldCase | undefined>;
  /** The cases of these keys, in the same order. At most 1,000 per call. */
  findByKeys(keys: readonly CaseKey[]): Promise<(Case | undefined)[]>;
  /** Every booking with that reference. */
  findBookings(reference: string): Promise<readonly FoundBooking[]>;
  /** Of each of these cases, the reference of the open booking that checks in next, by id. At most 1,000 per call. */
  findNextReferences(ids: readonly number[], today: string): Promise<ReadonlyMap<number, string>>;
  /** Those whose mapping is not corrected or dismissed. */
  listActive(): Promise<readonly Case[]>;
  /** What they are about, in the order of their ids. */
  listActiveKeys(page: CasePage): Promise<readonly ActiveKey[]>;
  /** The active cases whose mapping moved after their evidence. */
  listMoved(): Promise<readonly MovedCase[]>;
  /** The cases that have been in the state `reported` since before that instant. */
  listReported(before: number): Promise<readonly number[]>;
  /** The unresolved bookings that have a reference and whose stay is ahead, by case and place. */
  listOpenReferences(today: string, page: ReferencePage): Promise<readonly OpenReference[]>;
  /** The collected runs that are not completely followed up, the oldest first. */
  listRunsToFollow(): Promise<readonly FollowedRun[]>;
  /** @param today YYYY-MM-DD, in the account's zone */
  count(today: string): Promise<CaseCounts>;
}

/** How much there is to do. Bookings of dismissed cases need nobody, and are not counted. */
export interface CaseCounts {
  readonly byState: Readonly<Record<MappingState, number>>;
  /** Open bookings, and those of them whose check-in is unknown: it might be tomorrow. */
  readonly openBookings: number;
  readonly unknownCheckIns: number;
  /** The nearest check-in of an open booking, YYYY-MM-DD. */
  readonly firstCheckIn?: string;
}

/** What becomes of a case. */
export interface CaseDecision {
  readonly case: Omit<Case, 'id' | keyof CaseKey>;
  /** Those that are new or have changed. */
  readonly bookings: readonly CaseBooking[];
  /** For the audit trail; the subject is the case unless one is named. */
  readonly actions: readonly RecordedAction[];
}

export interface CaseFilter {
  /** Without one: every case with an open booking. */
  readonly state?: MappingState | 'all' | undefined;
  readonly ids?: readonly number[] | undefined;
  readonly provider?: string | undefined;
  /** Only cases with an open booking whose check-in is before this day, or unknown. */
  readonly checkInBefore?: string | undefined;
  /** Only cases with an open booking of this business day. */
  readonly day?: string | undefined;
  /** YYYY-MM-DD, in the account's zone. */
  readonly today: string;
}

export interface CaseSummary extends Case {
  readonly bookings: number;
  readonly openBookings: number;
  /** The nearest check-in of its open bookings, as far as one is known. */
  readonly firstCheckIn?: string;
  /** Whether the check-in of an open booking is unknown: it might be tomorrow. */
  readonly hasUnknownCheckIn: boolean;
}

export interface CaseOutline
  extends CaseKey,
    Pick<CaseSummary, 'id' | 'state' | 'assignee' | 'openBookings' | 'firstCheckIn' | 'hasUnknownCheckIn'> {
  /** The master hotel that the local copy of the mappings has; null if it has none. */
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

/** A move of a mapping; `to` is absent where it was deleted. */
export interface LaterMove {
  readonly to?: number;
  readonly seenAt: number;
}

export interface MovedCase {
  readonly id: number;
  /** Those after its evidence, the oldest first. */
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

/** Only cases with a greater id than `after`, and a smaller one than `before`. */
export interface CasePage {
  readonly after?: number | undefined;
  readonly before?: number | undefined;
  readonly limit: number;
}

export interface ReferencePage extends CasePage {
  /** Or bookings after this place of the case `after`. */
  readonly afterPlace?: number | undefined;
}

/** How far a run has been followed up. */
export interface FollowedRun {
  readonly runId: string;
  /** Its bookings and suspects. */
  readonly hasBookings: boolean;
  /** Its result too, or there is none to come. */
  readonly isComplete: boolean;
}
