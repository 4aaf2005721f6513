import type { CopiedMapping, ProviderHotel } from '../../mappings/mapping-copy.js';
import { toStorableHotel } from '../mapping-changes.js';
import { mappingColumns, toMapping } from '../stored-mapping.js';
import type { Session } from './session.js';

/** Finds a provider's hotel by the index, which knows the beginnings of names only. */
export function isHotel(quotedProvider: string, quotedHotel: string): string {
  return `left(provider_name, 200) = left(${quotedProvider}, 200) AND provider_name = ${quotedProvider}
    AND left(provider_hotel_id, 200) = left(${quotedHotel}, 200) AND provider_hotel_id = ${quotedHotel}`;
}

/** What the copy holds of each, in their order. */
export async function lookUp(
  session: Session,
  hotels: readonly ProviderHotel[],
): Promise<(CopiedMapping | undefined)[]> {
  const asked = hotels.map(toStorableHotel);
  const rows = await session.preparedRows(
    'look up mappings',
    // The limit keeps it to one look into the index for each, however many the planner takes them for.
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
