import type { ProviderHotel } from '../mappings/mapping-copy.js';
import type { Run } from '../review/run.js';
import type { CaseKey } from './case.js';

/** What the watch has to read, and how far it has come. Contains no guest data. */
export interface WatchStore {
  /** The mappings of the next moves that no watch has compared with the upcoming stays, by the oldest moves first. */
  nextMoves(limit: number): Promise<MovedMappings | undefined>;
  /** Records that all moves up to that number are compared, and what they endanger is recorded. Never goes back. */
  finishMoves(upTo: number, at: number): Promise<void>;
  /** Remembers what is to be reviewed again, each once. */
  rememberEndangered(found: readonly EndangeredMapping[]): Promise<void>;
  /** Whether there are some that no run has taken. */
  hasEndangered(): Promise<boolean>;
  /** Gives this run those that no run has taken. Returns all that it has, each pair once. */
  takeEndangered(runId: string): Promise<readonly CaseKey[]>;
  /** The runs of trigger `watch` of this day or later that are to be resumed: active ones first, then the oldest. */
  listUnfinishedReviews(since: string): Promise<readonly Run[]>;
  /** What the copy knows about these master hotels. */
  readMasterHotels(serviceIds: readonly number[]): Promise<ReadonlyMap<number, MasterHotel>>;
}

/** Stays on this pair lead to another hotel since its mapping moved. */
export interface EndangeredMapping extends CaseKey {
  /** The move, epoch milliseconds. */
  readonly movedAt: number;
}

export interface MovedMappings {
  /** How many moves these are. */
  readonly moves: number;
  /** The number of the last one. */
  readonly upTo: number;
  /** Each once, however often it moved. */
  readonly mappings: readonly MovedMapping[];
}

export interface MovedMapping extends ProviderHotel {
  /** Its master hotel in the copy; absent where the mapping is deleted. */
  readonly copyServiceId?: number;
  /** The last of these moves, epoch milliseconds. */
  readonly movedAt: number;
}

/** What the copy knows about a master hotel. */
export interface MasterHotel {
  /** How many provider hotels are mapped to it. */
  readonly hotels: number;
  /** The provider hotels that were mapped to it and are not any more. */
  readonly left: readonly LeftHotel[];
}

export interface LeftHotel {
  readonly providerName: string;
  /** Where it is mapped to; absent where its mapping is deleted. */
  readonly copyServiceId?: number;
}
