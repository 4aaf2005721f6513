import type { ProviderHotel } from '../ledger/mappings.js';

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
