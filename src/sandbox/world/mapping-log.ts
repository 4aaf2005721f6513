import type { MappingVersion } from './mapping-version.js';
import type { Mapping } from './world.js';

/** All that was ever said of the mappings, in the order in which it became true. Nothing in it changes; it grows. */
export interface MappingLog {
  /** How many versions there are: a snapshot of the world is this number. */
  readonly size: number;
  /** How many mappings there are, deleted ones among them. */
  readonly mappings: number;
  at(sequence: number): MappingVersion;
  /** The newest version of a mapping. */
  current(number: number): MappingVersion;
  /** The newest version of the one mapping of a provider's hotel that may stand. */
  find(providerName: string, providerHotelId: string): MappingVersion | undefined;
  add(mapping: Mapping, instants: Pick<MappingVersion, 'createdAt' | 'changedAt'>): MappingVersion;
  change(number: number, difference: MappingDifference): void;
  /**
   * Gives a provider's hotel to another master hotel: a mapping comes to be, or comes back, and then the one that was is
   * deleted.
   *
   * @returns the number of the one that stands now
   */
  move(number: number, serviceId: number, changedAt: number): number;
  /** The place of the first version that is not older than the instant. */
  firstSince(instant: number): number;
  /**
   * The versions from a place on that are each its mapping's newest one in the snapshot, in the order of their changes.
   * Each mapping comes once, whatever is added meanwhile.
   */
  read(from: number, snapshot: number): Iterable<MappingVersion>;
}

export type MappingDifference = Pick<MappingVersion, 'changedAt'> &
  Partial<Pick<MappingVersion, 'createdAt' | 'isDeleted' | 'channelsEdition' | 'locationEdition'>>;

/** Of a version that is its mapping's newest. */
const never = Number.POSITIVE_INFINITY;

export function createMappingLog(): MappingLog {
  const columns = {
    number: createNumberColumn(),
    createdAt: createNumberColumn(),
    changedAt: createNumberColumn(),
    isDeleted: createNumberColumn(),
    channelsEdition: createNumberColumn(),
    locationEdition: createNumberColumn(),
    /** The sequence of the version that replaced this one. */
    replacedAt: createNumberColumn(),
  };
  /** As they were when they came to be, by their numbers. */
  const mappings: Mapping[] = [];
  /** The sequence of each one's newest version. */
  const newest = createNumberColumn();
  const numbers = new Map<string, Map<string, number>>();
  /** The mappings that hotels have moved away from. */
  const left = new Map<string, number>();

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
    const number = columns.number.at(sequence);
    const { serviceId, providerName, providerHotelId } = mappings[number] as Mapping;
    return {
      sequence,
      number,
      serviceId,
      providerName,
      providerHotelId,
      createdAt: columns.createdAt.at(sequence),
      changedAt: columns.changedAt.at(sequence),
      isDeleted: columns.isDeleted.at(sequence) === 1,
      channelsEdition: columns.channelsEdition.at(sequence),
      locationEdition: columns.locationEdition.at(sequence),
    };
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
    const before = versionAt(newest.at(number));
    const sequence = append({ ...before, ...difference });
    columns.replacedAt.put(before.sequence, sequence);
    newest.put(number, sequence);
  }

  return {
    get size() {
      return columns.number.length;
    },
    get mappings() {
      return mappings.length;
    },
    at: versionAt,
    current: (number) => versionAt(newest.at(number)),
    find(providerName, providerHotelId) {
      const number = numbers.get(providerName)?.get(providerHotelId);
      return number === undefined ? undefined : versionAt(newest.at(number));
    },
    add: (mapping, instants) => versionAt(newest.at(add(mapping, instants))),
    change,
    move(number, serviceId, changedAt) {
      const before = versionAt(newest.at(number));
      const moved = { ...toMapping(before), serviceId };
      const known = left.get(keyOf(moved));
      if (known !== undefined) change(known, { isDeleted: false, createdAt: changedAt, changedAt });
      const standing = known ?? add(moved, { createdAt: changedAt, changedAt });
      numbers.get(before.providerName)?.set(before.providerHotelId, standing);
      change(number, { isDeleted: true, changedAt });
      left.set(keyOf(before), number);
      return standing;
    },
    firstSince(instant) {
      let [from, to] = [0, columns.changedAt.length];
      while (from < to) {
        const middle = Math.floor((from + to) / 2);
        if (columns.changedAt.at(middle) < instant) from = middle + 1;
        else to = middle;
      }
      return from;
    },
    *read(from, snapshot) {
      for (let sequence = from; sequence < snapshot; sequence += 1) {
        if (columns.replacedAt.at(sequence) >= snapshot) yield versionAt(sequence);
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

/** Numbers in a row, without an object for each: a large world has millions of them. */
export interface NumberColumn {
  readonly length: number;
  push(value: number): void;
  /** @throws RangeError for a place that the column does not have */
  at(place: number): number;
  /** Puts another number in a place that the column has. */
  put(place: number, value: number): void;
}

const firstCapacity = 1_024;

export function createNumberColumn(): NumberColumn {
  let values = new Float64Array(firstCapacity);
  let length = 0;
  return {
    get length() {
      return length;
    },
    push(value) {
      if (length === values.length) {
        const larger = new Float64Array(2 * length);
        larger.set(values);
        values = larger;
      }
      values[length] = value;
      length += 1;
    },
    at(place) {
      const value = place < length ? values[place] : undefined;
      if (value === undefined) throw new RangeError(`expected a place below ${length}, got: ${place}`);
      return value;
    },
    put(place, value) {
      values[place] = value;
    },
  };
}
