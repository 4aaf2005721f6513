import type { PairJson } from '../../mappings/hotels/shown-hotels.js';
import { showInLine } from '../../text/foreign-text.js';

export type HotelData = NonNullable<PairJson['bookedHotel']>;

/** Its name or, if the content is not known, its id. */
export function nameHotel(hotel: HotelData | null, serviceId: number): string {
  return hotel?.name == null ? `hotel ${serviceId}` : showShortened(hotel.name, 80);
}

/** These texts come from elsewhere: one row must not fill a page. */
export function showShortened(text: string, most: number): string {
  const characters = [...text.slice(0, 2 * most + 2)];
  return showInLine(characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : text);
}
