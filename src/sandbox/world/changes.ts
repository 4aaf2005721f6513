import type { MappingDifference, MappingLog } from './mapping-log.js';
import type { MappingVersion } from './mapping-version.js';
import { type Hotel, makeHotel, makeMappings } from './world.js';

/** What happens in the world, and in how many of a hundred changes. */
const shares = {
  'channels-updated': 45,
  'location-updated': 19,
  'hotel-added': 4,
  'mapping-moved': 10,
  'hotels-merged': 4,
  'mapping-deleted': 14,
  'mapping-returned': 4,
} as const;

type ChangeKind = keyof typeof shares;

/** How often a mapping is looked for that a change can be made to, until a hotel is added instead. */
const attempts = 50;
/** A hotel that has so many mappings gets no more, nor is it merged: hotels would grow for ever. */
const mostMappings = 10;

export interface ChangesOptions {
  readonly log: MappingLog;
  /** Those that are added are appended. */
  readonly hotels: Hotel[];
  readonly random: () => number;
}

/**
 * The changes of a world, one after another: which one comes next depends on nothing but the random numbers and those
 * before it.
 *
 * @returns makes the next one, at an instant that is not before the last one's
 */
export function createChanges({ log, hotels, random }: ChangesOptions): (instant: number) => void {
  /** The mappings that each hotel ever had. Made when it is needed: in large worlds it is large. */
  let index: Map<number, Set<number>> | undefined;

  function numbersOf(serviceId: number): Set<number> {
    index ??= indexByHotel(log);
    const numbers = index.get(serviceId) ?? new Set();
    index.set(serviceId, numbers);
    return numbers;
  }

  function perform(kind: ChangeKind, changedAt: number): void {
    switch (kind) {
      case 'channels-updated':
        return change(draw(isStanding), changedAt, (before) => ({
          channelsEdition: before.channelsEdition + 1,
        }));
      case 'location-updated':
        return change(draw(isStanding), changedAt, (before) => ({
          locationEdition: before.locationEdition + 1,
        }));
      case 'mapping-deleted':
        return change(draw(isStanding), changedAt, () => ({ isDeleted: true }));
      case 'mapping-returned':
        return change(draw(canReturn), changedAt, () => ({ isDeleted: false, createdAt: changedAt }));
      case 'hotel-added':
        return addHotel(changedAt);
      case 'mapping-moved':
        return bring(({ number }) => [number], changedAt);
      case 'hotels-merged':
        return bring(({ serviceId }) => standingOf(serviceId), changedAt);
    }
  }

  function change(
    version: MappingVersion | undefined,
    changedAt: number,
    differ: (before: MappingVersion) => Partial<MappingDifference>,
  ): void {
    if (version) log.change(version.number, { ...differ(version), changedAt });
    else addHotel(changedAt);
  }

  /** Gives mappings of one hotel to another one. */
  function bring(choose: (from: MappingVersion) => readonly number[], changedAt: number): void {
    const to = draw(hasRoom);
    const from = to && draw((version) => hasRoom(version) && version.serviceId !== to.serviceId);
    if (!to || !from) return addHotel(changedAt);
    const joining = numbersOf(to.serviceId);
    for (const number of choose(from)) {
      joining.add(log.move(number, to.serviceId, changedAt));
    }
  }

  function addHotel(changedAt: number): void {
    const hotel = makeHotel(hotels.length, random);
    const mappings = makeMappings(hotel, hotels.length, random);
    hotels.push(hotel);
    for (const mapping of mappings) {
      const { number, serviceId } = log.add(mapping, { createdAt: changedAt, changedAt });
      numbersOf(serviceId).add(number);
    }
  }

  function draw(fits: (version: MappingVersion) => boolean): MappingVersion | undefined {
    for (let attempt = 0; attempt < attempts && log.mappings > 0; attempt += 1) {
      const version = log.current(Math.floor(random() * log.mappings));
      if (fits(version)) return version;
    }
    return undefined;
  }

  /** What a hotel has moved away from stays deleted, unless it moves back. */
  function canReturn({ isDeleted, number, providerName, providerHotelId }: MappingVersion): boolean {
    return isDeleted && log.find(providerName, providerHotelId)?.number === number;
  }

  function hasRoom(version: MappingVersion): boolean {
    return isStanding(version) && standingOf(version.serviceId).length < mostMappings;
  }

  function standingOf(serviceId: number): number[] {
    return [...numbersOf(serviceId)].filter((number) => isStanding(log.current(number)));
  }

  return (instant) => perform(drawKind(random), instant);
}

function drawKind(random: () => number): ChangeKind {
  let left = random() * 100;
  for (const [kind, share] of Object.entries(shares) as [ChangeKind, number][]) {
    left -= share;
    if (left < 0) return kind;
  }
  return 'channels-updated';
}

function isStanding({ isDeleted }: MappingVersion): boolean {
  return !isDeleted;
}

function indexByHotel(log: MappingLog): Map<number, Set<number>> {
  const index = new Map<number, Set<number>>();
  for (let number = 0; number < log.mappings; number += 1) {
    const { serviceId } = log.current(number);
    const numbers = index.get(serviceId) ?? new Set();
    index.set(serviceId, numbers.add(number));
  }
  return index;
}
