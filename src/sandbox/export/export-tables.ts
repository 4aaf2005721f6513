import { type BrandOfChain, contentColumns, contentOf, type HotelContent } from '../world/hotel-content.js';
import type { LivingWorld, Snapshot } from '../world/living-world.js';
import { channelIdsOf, locationCodeOf, type MappingVersion } from '../world/mapping-version.js';

/** The rows of a file, header first. */
export type Rows = Iterable<readonly (string | number)[]>;

/** The files of an export, keyed by the middle part of their names. (Spec 2.7.) */
export interface ExportTables {
  readonly mappings: Rows;
  readonly transformed: Rows;
  readonly hotels: Rows;
}

interface ExportTablesOptions {
  readonly world: Pick<LivingWorld, 'hotelOf'>;
  readonly snapshot: Snapshot;
  /** The providers whose mappings are exported. */
  readonly providers: readonly string[];
  readonly brands: readonly BrandOfChain[];
  /** The name of the master id's column. */
  readonly masterIdName: string;
}

/** Between several values in one cell. (Assumed: the specification doesn't say.) */
const separator = ';';

/** Rows are made as they are read, once. */
export function createExportTables(options: ExportTablesOptions): ExportTables {
  const { world, snapshot, providers, brands, masterIdName } = options;

  function* activeMappings(): Generator<MappingVersion> {
    for (const version of snapshot.read(0)) {
      if (!version.isDeleted && providers.includes(version.providerName)) yield version;
    }
  }

  /** Each hotel with its mappings, by ascending id. */
  function* hotelsWithMappings(): Generator<readonly [number, readonly MappingVersion[]]> {
    const sequences = new Map<number, number[]>();
    for (const { serviceId, sequence } of activeMappings()) {
      const ofHotel = sequences.get(serviceId);
      if (ofHotel) ofHotel.push(sequence);
      else sequences.set(serviceId, [sequence]);
    }
    for (const serviceId of Float64Array.from(sequences.keys()).sort()) {
      yield [serviceId, (sequences.get(serviceId) ?? []).map(snapshot.at)];
    }
  }

  function* mappings(): Rows {
    yield [
      ...[masterIdName, 'ProviderHotelId', 'ProviderFamily'],
      ...['ModifiedOn', 'ChannelIds', 'ProviderLocationId'],
    ];
    for (const version of activeMappings()) {
      const { serviceId, providerHotelId, providerName, changedAt } = version;
      const hotel = world.hotelOf(serviceId);
      yield [
        ...[serviceId, providerHotelId, providerName, new Date(changedAt).toISOString()],
        ...[channelIdsOf(version).join(separator), hotel ? locationCodeOf(version, hotel) : ''],
      ];
    }
  }

  function* transformed(): Rows {
    yield [masterIdName, ...providers];
    for (const [serviceId, versions] of hotelsWithMappings()) {
      const idsOf = (provider: string) =>
        versions
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
