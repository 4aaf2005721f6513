import type { HotelDirectory } from './world.js';

/** What of a booking its mapping is verified by. */
export interface BookedHotel {
  readonly serviceId: number;
  readonly providerName?: string | undefined;
  readonly providerHotelId?: string | undefined;
}

/**
 * Whether the provider's hotel is the master hotel that was booked. A booking that does not say its provider and that
 * provider's hotel can't be verified, and is not held against anybody; a hotel that the world does not hold is nobody's.
 */
export function isCorrectlyMapped(
  { serviceId, providerName, providerHotelId }: BookedHotel,
  world: HotelDirectory,
): boolean {
  if (providerName === undefined || providerHotelId === undefined) return true;
  return world.serviceIdOf(providerName, providerHotelId) === serviceId;
}
