import { toStorableHotel } from '../mapping-changes.js';
import type { CopiedMapping, ProviderHotel } from '../mappings.js';
import { one, type Query } from '../query.js';

/** A found mapping: the index of its hotel in the request, then its columns. */
type Found = readonly [
  place: number,
  number: number,
  serviceId: number | null,
  locationCode: string | null,
  channelIds: readonly string[],
  firstSeenAt: number,
  movedAt: number | null,
];

/**
 * The copy's mapping of each hotel, in the order of the request. One statement per provider returns all of its hotels as
 * one text: a statement or a row per hotel would take three times as long.
 */
export function* lookUp(hotels: readonly ProviderHotel[]): Query<(CopiedMapping | undefined)[]> {
  const byProvider = new Map<string, { readonly places: number[]; readonly ids: string[] }>();
  for (const [place, hotel] of hotels.entries()) {
    const { providerName, providerHotelId } = toStorableHotel(hotel);
    let asked = byProvider.get(providerName);
    if (!asked) {
      asked = { places: [], ids: [] };
      byProvider.set(providerName, asked);
    }
    asked.places.push(place);
    asked.ids.push(providerHotelId);
  }
  const found = new Array<CopiedMapping | undefined>(hotels.length).fill(undefined);
  for (const [providerName, { places, ids }] of byProvider) {
    const row = yield* one(
      `SELECT json_group_array(json_array(
         key, number, service_id, location_code, json(channel_ids), first_seen_at, moved_at
       )) AS found
       FROM json_each(?) CROSS JOIN mappings ON provider_name = ? AND provider_hotel_id = value`,
      JSON.stringify(ids),
      providerName,
    );
    for (const columns of JSON.parse(String(row?.found)) as Found[]) {
      const [index, number, serviceId, locationCode, channelIds, firstSeenAt, movedAt] = columns;
      const place = places[index];
      if (place === undefined) continue;
      found[place] = {
        number,
        providerName,
        providerHotelId: String(ids[index]),
        ...(serviceId !== null && { serviceId }),
        ...(locationCode !== null && { locationCode }),
        channelIds,
        firstSeenAt,
        ...(movedAt !== null && { movedAt }),
      };
    }
  }
  return found;
}
