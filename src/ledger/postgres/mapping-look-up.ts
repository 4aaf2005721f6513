import type { CopiedMapping, ProviderHotel } from '../../mappings/mapping-copy.js';
import { toStorableHotel } from '../mapping-changes.js';
import { mappingColumns, toMapping } from '../stored-mapping.js';
import type { Session } from './session.js';

/** Finds a provider hotel by the index, which covers only the start of each name. */
export function isHotel(quotedProvider: string, quotedHotel: string): string {
  return `left(provider_name, 200) = left(${quotedProvider}, 200) AND provider_name = ${quotedProvider}
    AND left(provider_hotel_id, 200) = left(${quotedHotel}, 200) AND provider_hotel_id = ${quotedHotel}`;
}

/** The copy's mapping of each hotel, in the order of the request. */
export async function lookUp(
  session: Session,
  hotels: readonly ProviderHotel[],
): Promise<(CopiedMapping | undefined)[]> {
  const asked = hotels.map(toStorableHotel);
  const rows = await session.preparedRows(
    'look up mappings',
    // The limit keeps the plan at one index look-up per hotel, however many rows the planner expects.
    `SELECT place, found.* FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS asked (provider, hotel, place)
     CROSS JOIN LATERAL (
       SELECT ${mappingColumns} FROM hotel_review.mappings
       WHERE ${isHotel('asked.provider', 'asked.hotel')} LIMIT 1
     ) AS found`,
    asked.map(({ providerName }) => providerName),
    asked.map(({ providerHotelId }) => providerHotelId),
  );
  const found = new Array<CopiedMapping | undefined>(hotels.length).fill(undefined);
  for (const row of rows) found[Number(row.place) - 1] = toMapping(row);
  return found;
}
