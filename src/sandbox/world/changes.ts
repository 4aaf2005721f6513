import type { MappingDifference, MappingLog } from './mapping-log.js';
import type { MappingVersion } from './mapping-version.js';
import type { Mistakes } from './mistakes.js';
import { type Hotel, makeHotel, makeMappings } from './world.js';

/** What changes in the world, in percent of the changes of a world whose mappings are all right. */
const usualShares = {
  'channels-updated': 45,
  'location-updated': 19,
  'hotel-added': 4,
  'mapping-moved': 10,
  'hotels-merged': 4,
  'mapping-deleted': 14,
  'mapping-returned': 4,
} as const;
/** As long as a world has wrong mappings, it corrects them too. */
const correctionShare = 12;

type ChangeKind = keyof typeof usualShares | 'mapping-corrected';

/** How many mappings to try for a change that needs a fitting one; after that a hotel is added instead. */
const maxAttempts = 50;
/** A hotel with this many mappings gets no more and is not merged; otherwise hotels would grow for ever. */
const maxMappings = 10;

interface ChangesOptions {
  readonly log: MappingLog;
  /** New hotels are appended. */
  readonly hotels: Hotel[];
  /** Corrections are removed from it, and merges applied to it, by the changes. */
  readonly mistakes: Mistakes;
  readonly random: () => number;
}

/**
 * Makes the changes of a world. Each change depends only on the random numbers and the changes before it.
 *
 * @returns makes the next change, at an instant not before the last one
 */
export function createChanges({ log, hotels, mistakes, random }: ChangesOptions): (instant: number) => void {
  /** All mappings each hotel ever had. Built on first use, as it is large in large worlds. */
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
        return change(draw(isActive), changedAt, (before) => ({
          channelsEdition: before.channelsEdition + 1,
        }));
      case 'location-updated':
        return change(draw(isActive), changedAt, (before) => ({
          locationEdition: before.locationEdition + 1,
        }));
      case 'mapping-deleted':
        return change(draw(isActive), changedAt, () => ({ isDeleted: true }));
      case 'mapping-returned':
        return change(draw(canReturn), changedAt, () => ({ isDeleted: false, createdAt: changedAt }));
      case 'hotel-added':
        return addHotel(changedAt);
      case 'mapping-moved':
        return moveMapping(changedAt);
      case 'hotels-merged':
        return mergeHotels(changedAt);
      case 'mapping-corrected':
        return correctMapping(changedAt);
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

  /** A provider's hotel becomes another hotel. Its new mapping is right. */
  function moveMapping(changedAt: number): void {
    const pair = drawTwoHotels();
    if (!pair) return addHotel(changedAt);
    move(pair.from, pair.to.serviceId, changedAt);
    mistakes.end(pair.from);
  }

  /** Everything that is sold as one hotel is sold as another. */
  function mergeHotels(changedAt: number): void {
    const pair = drawTwoHotels();
    if (!pair) return addHotel(changedAt);
    const { serviceId } = pair.from;
    for (const number of activeOf(serviceId)) move(log.current(number), pair.to.serviceId, changedAt);
    mistakes.merge(serviceId, pair.to.serviceId);
  }

  function correctMapping(changedAt: number): void {
    const mistake = mistakes.draw(random);
    const version = mistake && log.find(mistake.providerName, mistake.providerHotelId);
    if (!version || version.isDeleted) return addHotel(changedAt);
    move(version, mistake.serviceId, changedAt);
    mistakes.end(mistake);
  }

  function drawTwoHotels(): { readonly from: MappingVersion; readonly to: MappingVersion } | undefined {
    const to = draw(isBelowLimit);
    const from = to && draw((version) => isBelowLimit(version) && version.serviceId !== to.serviceId);
    return from && { from, to };
  }

  function move({ number }: MappingVersion, serviceId: number, changedAt: number): void {
    numbersOf(serviceId).add(log.move(number, serviceId, changedAt));
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
    for (let attempt = 0; attempt < maxAttempts && log.mappings > 0; attempt += 1) {
      const version = log.current(Math.floor(random() * log.mappings));
      if (fits(version)) return version;
    }
    return undefined;
  }

  /** A mapping that a provider's hotel moved away from stays deleted, unless the hotel moves back. */
  function canReturn({ isDeleted, number, providerName, providerHotelId }: MappingVersion): boolean {
    return isDeleted && log.find(providerName, providerHotelId)?.number === number;
  }

  function isBelowLimit(version: MappingVersion): boolean {
    return isActive(version) && activeOf(version.serviceId).length < maxMappings;
  }

  function activeOf(serviceId: number): number[] {
    return [...numbersOf(serviceId)].filter((number) => isActive(log.current(number)));
  }

  return (instant) => perform(drawKind(random, mistakes.count > 0), instant);
}

function drawKind(random: () => number, hasMistakes: boolean): ChangeKind {
  const shares = { ...usualShares, ...(hasMistakes && { 'mapping-corrected': correctionShare }) };
  let left = random() * (hasMistakes ? 100 + correctionShare : 100);
  for (const [kind, share] of Object.entries(shares) as [ChangeKind, number][]) {
    left -= share;
    if (left < 0) return kind;
  }
  return 'channels-updated';
}

function isActive({ isDeleted }: MappingVersion): boolean {
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
