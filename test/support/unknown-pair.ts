import type { HotelPair } from '../../src/mappings/hotels/compare-hotels.js';

export const unknownPair: HotelPair = {
  ...{ bookedHotel: undefined, copyHotel: undefined },
  ...{ distanceKm: undefined, hoursToCheckIn: undefined },
};
