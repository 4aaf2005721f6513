import type { StatedMapping } from './stated-mapping.js';
import type { Mapping } from './world.js';

type MappingDifference = Pick<StatedMapping, 'changedAt'> &
  Partial<Pick<StatedMapping, 'createdAt' | 'isDeleted' | 'channelsEdition' | 'locationEdition'>>;

/** All mappings there ever were, in the order of their last changes. */
export function createMappingBook() {
  /** By number. */
  const all: StatedMapping[] = [];
  const inOrder = new Set<StatedMapping>();
  let listed: readonly StatedMapping[] | undefined;
  const byHotel = new Map<number, StatedMapping[]>();
  /** The mapping that a provider's hotel has, or had last. */
  const latest = new Map<string, Map<string, StatedMapping>>();

  function hold(mapping: StatedMapping): void {
    const ofProvider = latest.get(mapping.providerName);
    if (ofProvider) ofProvider.set(mapping.providerHotelId, mapping);
    else latest.set(mapping.providerName, new Map([[mapping.providerHotelId, mapping]]));
  }

  function add(
    { serviceId, providerName, providerHotelId }: Mapping,
    instants: Pick<StatedMapping, 'createdAt' | 'changedAt'>,
  ): void {
    const mapping: StatedMapping = {
      ...{ number: all.length, serviceId, providerName, providerHotelId },
      ...{ ...instants, isDeleted: false, channelsEdition: 0, locationEdition: 0 },
    };
    all.push(mapping);
    inOrder.add(mapping);
    listed = undefined;
    const ofHotel = byHotel.get(serviceId);
    if (ofHotel) ofHotel.push(mapping);
    else byHotel.set(serviceId, [mapping]);
    hold(mapping);
  }

  function change(mapping: StatedMapping, difference: MappingDifference): void {
    Object.assign(mapping, difference);
    inOrder.delete(mapping);
    inOrder.add(mapping);
    listed = undefined;
  }

  return {
    all: all as readonly StatedMapping[],
    list(): readonly StatedMapping[] {
      listed ??= [...inOrder];
      return listed;
    },
    ofHotel: (serviceId: number): readonly StatedMapping[] => byHotel.get(serviceId) ?? [],
    find: (providerName: string, providerHotelId: string) => latest.get(providerName)?.get(providerHotelId),
    add,
    change,
    /** Maps a provider's hotel to another master hotel: creates or restores the new mapping, then deletes the old one. */
    move(mapping: StatedMapping, serviceId: number, changedAt: number): void {
      const known = byHotel
        .get(serviceId)
        ?.find(
          ({ providerName, providerHotelId }) =>
            providerName === mapping.providerName && providerHotelId === mapping.providerHotelId,
        );
      if (known) {
        change(known, { isDeleted: false, createdAt: changedAt, changedAt });
        hold(known);
      } else {
        add({ ...mapping, serviceId }, { createdAt: changedAt, changedAt });
      }
      change(mapping, { isDeleted: true, changedAt });
    },
  };
}

export type MappingBook = ReturnType<typeof createMappingBook>;
