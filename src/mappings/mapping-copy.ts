import type { Hold } from '../review/ledger.js';
import { SafeError } from '../text/safe-error.js';

/**
 * The local copy of the account's mappings: which provider's hotel is which master hotel, as the service told it last,
 * and the syncs that keep it in step. A provider's hotel is one row, whatever becomes of it. Instants are epoch
 * milliseconds.
 *
 * It holds nothing of guests.
 */
export interface MappingCopy {
  /** Takes the sole right to sync, now or not at all; undefined when somebody alive holds it. */
  holdSync(): Promise<Hold | undefined>;
  /** The newest sync of that scope, ended or not; undefined before the first. */
  latestSync(scope: SyncScope): Promise<MappingSync | undefined>;
  /** Begins a cycle; one of that scope that had not ended is given up in the same transaction. */
  beginSync(sync: NewSync): Promise<MappingSync>;
  /**
   * Stores a page's rows, its resume key and the cycle's counts in one transaction; a page without a key ends the cycle.
   * Storing the same page again, after its answer was lost, changes nothing.
   *
   * @throws SyncOvertakenError when the cycle does not stand at `after` any more: another process has gone on with it
   */
  storePage(page: StoredPage): Promise<MappingSync>;
  /** Forgets the resume key of a cycle that has not ended: it begins again at its lower bound. @throws SyncOvertakenError */
  restartSync(sync: Pick<MappingSync, 'syncId' | 'resumeKey'>): Promise<MappingSync>;

  find(hotel: ProviderHotel): Promise<{ mapping: CopiedMapping; moves: MappingMove[] } | undefined>;
  /** What the copy holds of each, in their order. At most 1,000 at once. */
  lookUp(hotels: readonly ProviderHotel[]): Promise<(CopiedMapping | undefined)[]>;
  /** Those that still stand, of certain providers if given, in the order of their numbers. */
  listMappings(page: {
    readonly after: number;
    readonly limit: number;
    readonly providers?: readonly string[];
  }): Promise<CopiedMapping[]>;
  summarise(): Promise<MappingSummary>;
  /** False once there is anything to compare bookings with. */
  isEmpty(): Promise<boolean>;

  /** Master hotels that no list has named yet, in the order in which they were met. */
  listNewHotels(page: { readonly after: number; readonly limit: number }): Promise<NewMasterHotel[]>;
  /** Says that those up to that number have been named. */
  markNewHotelsTold(upTo: number, at: number): Promise<void>;
}

/** Which changes a cycle asks for: of one provider family, or of all of them where it is empty. */
export type SyncScope = string;

export interface NewSync {
  readonly scope: SyncScope;
  readonly syncId: string;
  /** The lower bound of changes. */
  readonly since: number;
  /**
   * The lower bound that the next sync keeps, where this one begins too late to take over from the one before; absent
   * where the next one begins where this one began.
   */
  readonly keepsSince?: number;
  readonly at: number;
}

/** One cycle: all pages from a lower bound on. */
export interface MappingSync extends NewSync {
  /** Of the page to be fetched next; absent at the beginning and at the end. */
  readonly resumeKey?: string;
  /** When the cycle began by the service's clock, where it told: the next one's lower bound. */
  readonly serviceBeganAt?: number;
  readonly endedAt?: number;
  readonly counts: SyncCounts;
}

export interface SyncCounts {
  readonly pages: number;
  /** Records, whatever became of them. */
  readonly read: number;
  readonly added: number;
  /** Provider hotels that moved to another master hotel, or came back. */
  readonly moved: number;
  /** Changed in another way: location, channels. */
  readonly updated: number;
  readonly deleted: number;
  readonly unchanged: number;
  /** Master hotels that were never seen before. */
  readonly newHotels: number;
  /** How often the cycle had to begin again. */
  readonly restarts: number;
}

export interface StoredPage {
  readonly syncId: string;
  /** The key under which the page was fetched; absent for the first. */
  readonly after?: string;
  /** The key that came with it; absent for the last. */
  readonly resumeKey?: string;
  readonly rows: readonly MappingRow[];
  /** Taken from the first page that tells it. */
  readonly serviceBeganAt?: number;
  readonly at: number;
}

export interface ProviderHotel {
  /** Exactly as the service writes them. */
  readonly providerName: string;
  readonly providerHotelId: string;
}

/** A change as the service told it. */
export interface MappingRow extends ProviderHotel {
  readonly serviceId: number;
  readonly locationCode?: string;
  readonly channelIds: readonly string[];
  /**
   * The mapping was deleted at the service. Where the copy has the provider's hotel under another master hotel, and knows
   * that it had moved there from this one, nothing is deleted.
   */
  readonly isDeleted: boolean;
}

export interface CopiedMapping extends ProviderHotel {
  /** From 1, in the order in which they were first seen, without large gaps. */
  readonly number: number;
  /** Absent once it was deleted. */
  readonly serviceId?: number;
  readonly locationCode?: string;
  readonly channelIds: readonly string[];
  readonly firstSeenAt: number;
  /** When it was last seen to move or to be deleted; absent if it never was. */
  readonly movedAt?: number;
}

/** A provider's hotel went from one master hotel to another; `from` is absent where it came back, `to` where it was deleted. */
export interface MappingMove {
  readonly from?: number;
  readonly to?: number;
  readonly seenAt: number;
}

export interface NewMasterHotel {
  readonly number: number;
  readonly serviceId: number;
  /** The mapping by which it was met. */
  readonly providerName: string;
  readonly providerHotelId: string;
  readonly seenAt: number;
}

export interface MappingSummary {
  /** Those that stand. */
  readonly mappings: number;
  readonly masterHotels: number;
  readonly deleted: number;
  /** By name. */
  readonly providers: readonly { readonly providerName: string; readonly mappings: number }[];
  /** The newest of each scope. */
  readonly syncs: readonly MappingSync[];
}

/** Another process has gone on with the cycle. */
export class SyncOvertakenError extends SafeError {
  override readonly name = 'SyncOvertakenError';
}
