import type { MappingVersion } from './mapping-version.js';
import type { Mapping } from './world.js';

/** Every version of every mapping, in the order of the changes. Append-only. */
export interface MappingLog {
  /** Number of versions. It identifies a snapshot of the world. */
  readonly size: number;
  /** Number of mappings, including deleted ones. */
  readonly mappings: number;
  at(sequence: number): MappingVersion;
  /** The newest version of a mapping. */
  current(number: number): MappingVersion;
  /** The newest version of the mapping that a provider's hotel has, or had last. */
  find(providerName: string, providerHotelId: string): MappingVersion | undefined;
  add(mapping: Mapping, instants: Pick<MappingVersion, 'createdAt' | 'changedAt'>): MappingVersion;
  change(number: number, difference: MappingDifference): void;
  /**
   * Maps a provider's hotel to another master hotel: creates or restores the new mapping, then deletes the old one.
   *
   * @returns the number of the new mapping
   */
  move(number: number, serviceId: number, changedAt: number): number;
  /** The sequence of the first version at or after the instant. */
  firstSince(instant: number): number;
  /**
   * From a sequence on, the versions that are the newest of their mapping within the snapshot, in order. Each mapping
   * comes once, whatever is appended meanwhile.
   */
  read(from: number, snapshot: number): Iterable<MappingVersion>;
}

export type MappingDifference = Pick<MappingVersion, 'changedAt'> &
  Partial<Pick<MappingVersion, 'createdAt' | 'isDeleted' | 'channelsEdition' | 'locationEdition'>>;

/** Numbers in columns instead of an object per version: large worlds have millions. */
const emptyColumn = (): number[] => [];

/** `replacedAt` of the newest version of a mapping. */
const never = Number.POSITIVE_INFINITY;

export function createMappingLog(): MappingLog {
  const columns = {
    number: emptyColumn(),
    createdAt: emptyColumn(),
    changedAt: emptyColumn(),
    isDeleted: emptyColumn(),
    channelsEdition: emptyColumn(),
    locationEdition: emptyColumn(),
    /** The sequence of the version that replaced this one. */
    replacedAt: emptyColumn(),
  };
  /** Indexed by number. */
  const mappings: Mapping[] = [];
  /** The sequence of each mapping's newest version. */
  const newest = emptyColumn();
  const numbers = new Map<string, Map<string, number>>();
  /** Mappings that provider hotels have moved away from. */
  const abandoned = new Map<string, number>();

  function append(version: Omit<MappingVersion, 'sequence' | keyof Mapping>): number {
    columns.number.push(version.number);
    columns.createdAt.push(version.createdAt);
    columns.changedAt.push(version.changedAt);
    columns.isDeleted.push(version.isDeleted ? 1 : 0);
    columns.channelsEdition.push(version.channelsEdition);
    columns.locationEdition.push(version.locationEdition);
    columns.replacedAt.push(never);
    return columns.number.length - 1;
  }

  function versionAt(sequence: number): MappingVersion {
    const number = columns.number[sequence] as number;
    const { serviceId, providerName, providerHotelId } = mappings[number] as Mapping;
    return {
      sequence,
      number,
      serviceId,
      providerName,
      providerHotelId,
      createdAt: columns.createdAt[sequence] as number,
      changedAt: columns.changedAt[sequence] as number,
      isDeleted: columns.isDeleted[sequence] === 1,
      channelsEdition: columns.channelsEdition[sequence] as number,
      locationEdition: columns.locationEdition[sequence] as number,
    };
  }

  function currentVersion(number: number): MappingVersion {
    return versionAt(newest[number] as number);
  }

  function add(mapping: Mapping, instants: Pick<MappingVersion, 'createdAt' | 'changedAt'>): number {
    const number = mappings.push(mapping) - 1;
    const ofProvider = numbers.get(mapping.providerName) ?? new Map<string, number>();
    numbers.set(mapping.providerName, ofProvider.set(mapping.providerHotelId, number));
    const unchanged = { isDeleted: false, channelsEdition: 0, locationEdition: 0 };
    newest.push(append({ number, ...instants, ...unchanged }));
    return number;
  }

  function change(number: number, difference: MappingDifference): void {
    const before = currentVersion(number);
    const sequence = append({ ...before, ...difference });
    columns.replacedAt[before.sequence] = sequence;
    newest[number] = sequence;
  }

  return {
    get size() {
      return columns.number.length;
    },
    get mappings() {
      return mappings.length;
    },
    at: versionAt,
    current: currentVersion,
    find(providerName, providerHotelId) {
      const number = numbers.get(providerName)?.get(providerHotelId);
      return number === undefined ? undefined : currentVersion(number);
    },
    add: (mapping, instants) => currentVersion(add(mapping, instants)),
    change,
    move(number, serviceId, changedAt) {
      const before = currentVersion(number);
      const moved = { ...toMapping(before), serviceId };
      const known = abandoned.get(keyOf(moved));
      if (known !== undefined) change(known, { isDeleted: false, createdAt: changedAt, changedAt });
      const active = known ?? add(moved, { createdAt: changedAt, changedAt });
      numbers.get(before.providerName)?.set(before.providerHotelId, active);
      change(number, { isDeleted: true, changedAt });
      abandoned.set(keyOf(before), number);
      return active;
    },
    firstSince(instant) {
      let [from, to] = [0, columns.changedAt.length];
      while (from < to) {
        const middle = Math.floor((from + to) / 2);
        if ((columns.changedAt[middle] as number) < instant) from = middle + 1;
        else to = middle;
      }
      return from;
    },
    *read(from, snapshot) {
      for (let sequence = from; sequence < snapshot; sequence += 1) {
        if ((columns.replacedAt[sequence] as number) >= snapshot) yield versionAt(sequence);
      }
    },
  };
}

function toMapping({ serviceId, providerName, providerHotelId }: Mapping): Mapping {
  return { serviceId, providerName, providerHotelId };
}

function keyOf({ serviceId, providerName, providerHotelId }: Mapping): string {
  return `${serviceId}\n${providerName}\n${providerHotelId}`;
}
