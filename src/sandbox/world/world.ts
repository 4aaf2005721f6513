import { createPick, createSeededRandom } from '../common/random.js';
import { type BrandOfChain, createBrands } from './hotel-content.js';
import { placeOf, places } from './places.js';

export interface Hotel {
  readonly serviceId: number;
  readonly name: string;
  readonly city: string;
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
}

/** Which master hotel a provider's hotel is, or was before the mapping was deleted. Instants are epoch milliseconds. */
export interface Mapping {
  /** From 0. */
  readonly number: number;
  readonly serviceId: number;
  readonly providerName: string;
  readonly providerHotelId: string;
  /** When it was created or restored. */
  readonly createdAt: number;
  readonly changedAt: number;
  readonly isDeleted: boolean;
  /** How often its channels have changed. */
  readonly channelsEdition: number;
  /** How often its location has changed. */
  readonly locationEdition: number;
}

/** The hotels that the sandbox knows, and their mappings. */
export interface World {
  readonly providers: readonly string[];
  readonly brands: readonly BrandOfChain[];
  readonly hotels: readonly Hotel[];
  /** Those that are in force. */
  readonly mappings: readonly Mapping[];
  /** All there ever were, deleted ones too, in the order of their last changes. */
  readonly history: readonly Mapping[];
  hotelOf(serviceId: number): Hotel | undefined;
  /** The master hotel that a provider's hotel is; undefined for an unknown hotel. */
  serviceIdOf(providerName: string, providerHotelId: string): number | undefined;
  /** Makes one more change, at an instant not before the last one; the same each time, as everything before. */
  change(instant: number): void;
}

/** The mappings came about in the first half of the year before this instant, and changed in the second. */
export const worldBeginning = Date.UTC(2026, 0, 1);
const halfYearMs = 182 * 86_400_000;
/** Every other initial mapping was created this long before. */
const olderByMs = 100 * 86_400_000;
/** So many changes for each initial mapping. */
const changeShare = 0.2;

interface WorldOptions {
  /** The same seed gives the same world. */
  readonly seed?: number;
  readonly hotels?: number;
}

const firstWords = ['Grand', 'Hôtel', 'Casa', 'Park', 'Royal', 'Old Town', 'Riverside', 'Blue'] as const;
const lastWords = ['Plaza', 'Palace', 'Garden', 'Inn', 'Suites', 'Résidence', 'Lodge', 'Harbour'] as const;

/** Each provider numbers hotels its own way: with leading zeros, with letters, in hexadecimal. */
const providers: Readonly<Record<string, (number: number) => string>> = {
  NorthStar: (number) => String(number).padStart(8, '0'),
  Bedlink: (number) => `BL-${number}`,
  'Room & Co': (number) => number.toString(36).toUpperCase().padStart(6, '0'),
  Atlántico: (number) => `ATL${String(number).padStart(6, '0')}ES`,
  Sakura: (number) => number.toString(16),
  Meridian: (number) => String(number),
};

/** Ids have gaps, so that a slightly wrong id may belong to no hotel. */
const firstServiceId = 100_000;
const serviceIdStep = 7;

/** Makes a world: some of the providers sell each hotel, and each provider's hotel is one master hotel. */
export function createWorld({ seed = 1, hotels: count = 2_000 }: WorldOptions = {}): World {
  const random = createSeededRandom(seed);
  const hotels = Array.from({ length: count }, (_, place) => makeHotel(place, random));
  const book = createMappingBook();
  enterMappings(
    book,
    hotels.flatMap((hotel, place) => makeMappings(hotel, place, random)),
  );
  const change = createChange(book, createSeededRandom(~seed));
  const changes = Math.floor(book.all.length * changeShare);
  for (let place = 0; place < changes; place += 1)
    change(worldBeginning - halfYearMs + Math.floor((halfYearMs * place) / changes));
  let mappings: readonly Mapping[] | undefined;
  return {
    hotels,
    brands: createBrands(seed),
    providers: Object.keys(providers),
    get mappings() {
      mappings ??= book.list().filter(({ isDeleted }) => !isDeleted);
      return mappings;
    },
    get history() {
      return book.list();
    },
    serviceIdOf(providerName, providerHotelId) {
      const mapping = book.find(providerName, providerHotelId);
      return mapping?.isDeleted === false ? mapping.serviceId : undefined;
    },
    hotelOf(serviceId) {
      const hotel = hotels[Math.floor((serviceId - firstServiceId) / serviceIdStep)];
      return hotel?.serviceId === serviceId ? hotel : undefined;
    },
    change(instant) {
      change(instant);
      mappings = undefined;
    },
  };
}

type SoldHotel = Pick<Mapping, 'serviceId' | 'providerName' | 'providerHotelId'>;

type MappingBook = ReturnType<typeof createMappingBook>;

/** All mappings there ever were, in the order of their last changes. */
function createMappingBook() {
  /** By number. */
  const all: Mapping[] = [];
  const inOrder = new Set<Mapping>();
  let listed: readonly Mapping[] | undefined;
  const byHotel = new Map<number, Mapping[]>();
  /** The mapping that a provider's hotel has, or had last. */
  const latest = new Map<string, Mapping>();
  const keyOf = (providerName: string, providerHotelId: string) => `${providerName}\0${providerHotelId}`;

  function add(
    { serviceId, providerName, providerHotelId }: SoldHotel,
    createdAt: number,
    changedAt: number,
  ) {
    const mapping: Mapping = {
      ...{ number: all.length, serviceId, providerName, providerHotelId, createdAt, changedAt },
      ...{ isDeleted: false, channelsEdition: 0, locationEdition: 0 },
    };
    all.push(mapping);
    inOrder.add(mapping);
    listed = undefined;
    byHotel.set(serviceId, [...(byHotel.get(serviceId) ?? []), mapping]);
    latest.set(keyOf(providerName, providerHotelId), mapping);
  }

  function change(mapping: Mapping, changedAt: number, difference: Partial<Mapping>): void {
    Object.assign(mapping, difference, { changedAt });
    inOrder.delete(mapping);
    inOrder.add(mapping);
    listed = undefined;
  }

  return {
    all: all as readonly Mapping[],
    list(): readonly Mapping[] {
      listed ??= [...inOrder];
      return listed;
    },
    ofHotel: (serviceId: number): readonly Mapping[] => byHotel.get(serviceId) ?? [],
    find: (providerName: string, providerHotelId: string) => latest.get(keyOf(providerName, providerHotelId)),
    add,
    change,
    /** Maps a provider's hotel to another master hotel: creates or restores the new mapping, then deletes the old one. */
    move(mapping: Mapping, serviceId: number, changedAt: number): void {
      const key = keyOf(mapping.providerName, mapping.providerHotelId);
      const known = byHotel
        .get(serviceId)
        ?.find(({ providerName, providerHotelId }) => keyOf(providerName, providerHotelId) === key);
      if (known) {
        change(known, changedAt, { isDeleted: false, createdAt: changedAt });
        latest.set(key, known);
      } else {
        add({ ...mapping, serviceId }, changedAt, changedAt);
      }
      change(mapping, changedAt, { isDeleted: true });
    },
  };
}

/** Enters the mappings in an order that differs from that of their hotels. */
function enterMappings(book: MappingBook, mappings: readonly SoldHotel[]): void {
  const count = mappings.length;
  const step = findStride(count);
  for (let place = 0; place < count; place += 1) {
    const changedAt = worldBeginning - 2 * halfYearMs + Math.floor((halfYearMs * place) / count);
    const createdAt = place % 2 === 0 ? changedAt : changedAt - olderByMs;
    book.add(mappings[(place * step) % count] as SoldHotel, createdAt, changedAt);
  }
}

/** A step of about five eighths of a circle that visits each place once: it is coprime to the circle's length. */
function findStride(count: number): number {
  let step = Math.max(1, Math.floor(count * 0.618));
  while (greatestCommonDivisor(step, count) > 1) step += 1;
  return step;
}

function greatestCommonDivisor(one: number, other: number): number {
  return other === 0 ? one : greatestCommonDivisor(other, one % other);
}

/** Makes the hotel at a place of the world's list. Its id is unique to that place. */
function makeHotel(place: number, random: () => number): Hotel {
  const pick = createPick(random);
  const { city, country } = pick(places);
  return {
    serviceId: firstServiceId + place * serviceIdStep + Math.floor(random() * serviceIdStep),
    name: `${pick(firstWords)} ${pick(lastWords)} ${city}`,
    city,
    country,
  };
}

/** Lets at least one provider sell a hotel. No provider uses an id twice. */
function makeMappings({ serviceId }: Hotel, place: number, random: () => number): SoldHotel[] {
  const isSoldBy = () => random() < 0.6;
  const sellers = Object.entries(providers).filter(isSoldBy);
  const [anySeller] = Object.entries(providers);
  return (sellers.length === 0 && anySeller ? [anySeller] : sellers).map(([providerName, numberOf]) => ({
    serviceId,
    providerName,
    providerHotelId: numberOf(10_000 + place * 11 + Math.floor(random() * 11)),
  }));
}

/** The fields of a booking that its mapping is verified by. */
interface BookedMapping {
  readonly serviceId: number;
  readonly providerName?: string | undefined;
  readonly providerHotelId?: string | undefined;
}

/**
 * Whether the provider's hotel is the master hotel that was booked. A booking without provider or provider hotel can't be
 * verified and counts as correct; a hotel that the world doesn't have counts as incorrect.
 */
export function isCorrectlyMapped(
  { serviceId, providerName, providerHotelId }: BookedMapping,
  world: World,
): boolean {
  if (providerName === undefined || providerHotelId === undefined) return true;
  return world.serviceIdOf(providerName, providerHotelId) === serviceId;
}

/** What changes in the world, in percent of the changes. */
const shares = {
  'channels-updated': 46,
  'location-updated': 20,
  'mapping-moved': 11,
  'hotels-merged': 4,
  'mapping-deleted': 15,
  'mapping-returned': 4,
} as const;

type ChangeKind = keyof typeof shares;

/** How many mappings to try for a change that needs a fitting one; after that nothing changes. */
const maxAttempts = 50;

/**
 * Makes the changes of a world. Each change depends only on the random numbers and the changes before it.
 *
 * @returns makes the next change, at an instant not before the last one
 */
function createChange(book: MappingBook, random: () => number): (instant: number) => void {
  const pick = createPick(random);

  function draw(fits: (mapping: Mapping) => boolean): Mapping | undefined {
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const mapping = pick(book.all);
      if (fits(mapping)) return mapping;
    }
    return undefined;
  }

  /** A mapping that a provider's hotel moved away from stays deleted, unless the hotel moves back. */
  function canReturn(mapping: Mapping): boolean {
    return mapping.isDeleted && book.find(mapping.providerName, mapping.providerHotelId) === mapping;
  }

  /** A provider's hotel becomes another hotel, or everything that is sold as one hotel is sold as another. */
  function move(changedAt: number, listMoved: (from: Mapping) => readonly Mapping[]): void {
    const to = draw(isActive);
    const from = to && draw((mapping) => isActive(mapping) && mapping.serviceId !== to.serviceId);
    if (from) for (const mapping of listMoved(from)) book.move(mapping, to.serviceId, changedAt);
  }

  return (changedAt) => {
    const kind = drawKind(random);
    switch (kind) {
      case 'mapping-moved':
        return move(changedAt, (from) => [from]);
      case 'hotels-merged':
        return move(changedAt, ({ serviceId }) => book.ofHotel(serviceId).filter(isActive));
      default: {
        const mapping = draw(kind === 'mapping-returned' ? canReturn : isActive);
        if (mapping) book.change(mapping, changedAt, differ(kind, mapping, changedAt));
      }
    }
  };
}

function differ(
  kind: Exclude<ChangeKind, 'mapping-moved' | 'hotels-merged'>,
  { channelsEdition, locationEdition }: Mapping,
  changedAt: number,
): Partial<Mapping> {
  switch (kind) {
    case 'channels-updated':
      return { channelsEdition: channelsEdition + 1 };
    case 'location-updated':
      return { locationEdition: locationEdition + 1 };
    case 'mapping-deleted':
      return { isDeleted: true };
    case 'mapping-returned':
      return { isDeleted: false, createdAt: changedAt };
  }
}

function drawKind(random: () => number): ChangeKind {
  let left = random() * 100;
  for (const [kind, share] of Object.entries(shares) as [ChangeKind, number][]) {
    left -= share;
    if (left < 0) return kind;
  }
  return 'channels-updated';
}

function isActive({ isDeleted }: Mapping): boolean {
  return !isDeleted;
}

const channels = ['Retail', 'Package', 'Mobile', 'Members'] as const;
const ratePlans = ['Refundable', 'NonRefundable', 'Negotiated'] as const;
const combinations = channels.flatMap((channel) => ratePlans.map((ratePlan) => `${channel},${ratePlan}`));
/** Coprime to the number of combinations, so that consecutive ones always differ. */
const combinationStep = 5;
const maxChannels = 3;
/** Of a destination. */
const zones = 9;

/** One to three elements, each a channel and a rate plan type joined by a comma. (Spec 2.2.) */
export function channelIdsOf({ number, channelsEdition }: Mapping): string[] {
  const count = 1 + (number % maxChannels);
  return Array.from({ length: count }, (_, index) => {
    const place = number + channelsEdition + index * combinationStep;
    return combinations[place % combinations.length] as string;
  });
}

/** The provider's destination code, such as `MAD-7`. (Spec 2.2.) */
export function locationCodeOf({ number, locationEdition }: Mapping, hotel: Hotel): string {
  const [airport] = placeOf(hotel.city).airports;
  return `${airport}-${1 + ((number + locationEdition) % zones)}`;
}
