import type { Coordinates } from '../../geography/distance.js';
import { SafeError } from '../../text/safe-error.js';

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
