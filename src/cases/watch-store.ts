import type { ProviderHotel } from '../mappings/mapping-copy.js';

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
  /** Its master hotel in the copy; absent if the mapping was deleted. */
  readonly copyServiceId?: number;
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
  /** Its master hotel now; absent if its mapping was deleted. */
  readonly copyServiceId?: number;
}
