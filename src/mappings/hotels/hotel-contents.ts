import type { Hold } from '../../async/hold.js';
import type { Coordinates } from '../../geography/distance.js';
import { SafeError } from '../../text/safe-error.js';

/**
 * What the service's content file says about master hotels. Loading a file replaces the content of every hotel that it
 * names, all at the same moment. A hotel that it doesn't name keeps what an earlier file said: guests may still be
 * booked into it. Instants are epoch milliseconds.
 *
 * Contains no guest data.
 */
export interface HotelContents extends HotelReader {
  /** Takes the exclusive right to load without waiting; undefined while a live process holds it. */
  holdLoad(): Promise<Hold | undefined>;
  /** Starts a load. Nobody sees its hotels before `finishLoad`. */
  beginLoad(load: NewHotelLoad): Promise<void>;
  /**
   * Adds hotels to a load; the last of several with the same id counts. Adding the same ones again after a lost answer
   * changes nothing.
   *
   * @throws LoadOvertakenError when the load is no longer at `after`: another process has started one
   */
  addHotels(chunk: HotelChunk): Promise<void>;
  /** Makes the load the one that everybody sees. @throws LoadOvertakenError */
  finishLoad(id: string, at: number): Promise<HotelLoad>;
  /** Removes up to that many rows that nobody sees, of replaced and unfinished loads. Returns how many it removed. */
  removeUnseen(limit: number): Promise<number>;
}

export interface HotelReader {
  /** The content of each master hotel, in the order of the request. At most 1,000 per call. */
  lookUp(serviceIds: readonly number[]): Promise<(KnownHotel | undefined)[]>;
  /** The last load that was finished. */
  latestLoad(): Promise<HotelLoad | undefined>;
}

/** The content of a master hotel; what is absent is not known. (Spec 2.7.) */
export interface HotelContent {
  readonly serviceId: number;
  readonly name?: string;
  readonly coordinates?: Coordinates;
  readonly address?: string;
  readonly city?: string;
  readonly country?: string;
  /** ISO 3166-1 */
  readonly countryCode?: string;
  /** One or several: the separator is not specified. */
  readonly phones?: string;
  readonly email?: string;
  readonly website?: string;
}

export interface KnownHotel extends HotelContent {
  /** When the last load that names it started. */
  readonly loadedAt: number;
}

export interface NewHotelLoad {
  readonly id: string;
  /** The name of the file. */
  readonly file: string;
  readonly at: number;
}

export interface HotelChunk {
  /** The load. */
  readonly id: string;
  /** How many rows the load had before. */
  readonly after: number;
  readonly hotels: readonly HotelContent[];
}

export interface HotelLoad extends NewHotelLoad {
  readonly finishedAt: number;
  /** Different master hotels that the file names. */
  readonly hotels: number;
  /** Hotels that only earlier files named. */
  readonly kept: number;
}

/** Another process holds the right to load. */
export class LoadBusyError extends SafeError {
  override readonly name = 'LoadBusyError';
}

/** Another process has started a load. */
export class LoadOvertakenError extends SafeError {
  override readonly name = 'LoadOvertakenError';
}
