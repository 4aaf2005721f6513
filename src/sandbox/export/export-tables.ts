import { type BrandOfChain, contentColumns, contentOf, type HotelContent } from '../world/hotel-content.js';
import { channelIdsOf, locationCodeOf, type StatedMapping } from '../world/stated-mapping.js';
import type { World } from '../world/world.js';

/** The rows of a file, header first. */
export type Rows = Iterable<readonly (string | number)[]>;

/** The files of an export, keyed by the middle part of their names. (Spec 2.7.) */
export interface ExportTables {
  readonly mappings: Rows;
  readonly transformed: Rows;
  readonly hotels: Rows;
}

interface ExportTablesOptions {
  readonly world: World;
  /** The providers whose mappings are exported. */
  readonly providers: readonly string[];
  readonly brands: readonly BrandOfChain[];
  /** The name of the master id's column. */
  readonly masterIdName: string;
}

/** Between several values in one cell. (Assumed: the specification doesn't say.) */
const separator = ';';

/** Rows are made as they are read, once. */
export function createExportTables({
  world,
  providers,
  brands,
  masterIdName,
}: ExportTablesOptions): ExportTables {
  const active = world.history.filter(
    ({ isDeleted, providerName }) => !isDeleted && providers.includes(providerName),
  );

  /** Each hotel with its mappings, by ascending id. */
  function hotelsWithMappings(): readonly (readonly [number, readonly StatedMapping[]])[] {
    const byHotel = new Map<number, StatedMapping[]>();
    for (const mapping of active) {
      const ofHotel = byHotel.get(mapping.serviceId);
      if (ofHotel) ofHotel.push(mapping);
      else byHotel.set(mapping.serviceId, [mapping]);
    }
    return [...byHotel].sort(([one], [other]) => one - other);
  }

  function* mappings(): Rows {
    yield [
      ...[masterIdName, 'ProviderHotelId', 'ProviderFamily'],
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
    yield [masterIdName, ...providers];
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
    yield [masterIdName, ...contentColumns];
    for (const [serviceId, [first]] of hotelsWithMappings()) {
      const hotel = world.hotelOf(serviceId);
      if (!hotel || !first) continue;
      const content: HotelContent = {
        ...contentOf(hotel, brands),
        ProviderHotelId: first.providerHotelId,
        ProviderFamily: first.providerName,
      };
      yield [serviceId, ...contentColumns.map((column) => content[column] ?? '')];
    }
  }

  return {
    mappings: mappings(),
    transformed: transformed(),
    hotels: hotels(),
  };
}
