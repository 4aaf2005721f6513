import { contentColumns, contentOf, type HotelContent } from '../world/hotel-content.js';
import { channelIdsOf, locationCodeOf } from '../world/mapping-fields.js';
import type { Mapping, World } from '../world/world.js';

/** The rows of a file, header first. */
export type Rows = Iterable<readonly (string | number)[]>;

/** The middle parts of the files' names. */
export const exportKinds = ['mappings', 'transformed', 'hotels'] as const;

/** Between several values in one cell. (Assumed: the specification doesn't say.) */
const separator = ';';

/**
 * The files of an export. (Spec 2.7.) Rows are made as they are read, once.
 *
 * @param providers whose mappings are exported
 */
export function createExportTables(
  world: World,
  providers: readonly string[],
): Readonly<Record<(typeof exportKinds)[number], Rows>> {
  const active = world.mappings.filter(({ providerName }) => providers.includes(providerName));

  /** Each hotel with its mappings, by ascending id. */
  function hotelsWithMappings(): readonly (readonly [number, readonly Mapping[]])[] {
    const byHotel = new Map<number, Mapping[]>();
    for (const mapping of active) {
      const ofHotel = byHotel.get(mapping.serviceId);
      if (ofHotel) ofHotel.push(mapping);
      else byHotel.set(mapping.serviceId, [mapping]);
    }
    return [...byHotel].sort(([one], [other]) => one - other);
  }

  function* mappings(): Rows {
    yield [
      ...['ServiceId', 'ProviderHotelId', 'ProviderFamily'],
      ...['ModifiedOn', 'ChannelIds', 'ProviderLocationId'],
    ];
    for (const mapping of active) {
      const { serviceId, providerHotelId, providerName, changedAt } = mapping;
      const hotel = world.hotelOf(serviceId);
      yield [
        ...[serviceId, providerHotelId, providerName, new Date(changedAt).toISOString()],
        ...[channelIdsOf(mapping).join(separator), hotel ? locationCodeOf(mapping, hotel) : ''],
      ];
    }
  }

  function* transformed(): Rows {
    yield ['ServiceId', ...providers];
    for (const [serviceId, mapped] of hotelsWithMappings()) {
      const idsOf = (provider: string) =>
        mapped
          .filter(({ providerName }) => providerName === provider)
          .map(({ providerHotelId }) => providerHotelId)
          .join(separator);
      yield [serviceId, ...providers.map(idsOf)];
    }
  }

  function* hotels(): Rows {
    yield ['ServiceId', ...contentColumns];
    for (const [serviceId, [first]] of hotelsWithMappings()) {
      const hotel = world.hotelOf(serviceId);
      if (!hotel || !first) continue;
      const content: HotelContent = {
        ...contentOf(hotel, world.brands),
        ProviderHotelId: first.providerHotelId,
        ProviderFamily: first.providerName,
      };
      yield [serviceId, ...contentColumns.map((column) => content[column] ?? '')];
    }
  }

  return { mappings: mappings(), transformed: transformed(), hotels: hotels() };
}
