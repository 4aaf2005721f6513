import { createEvenSelector, createPick, createSeededRandom } from '../common/random.js';
import { places } from './places.js';

export interface Hotel {
  readonly serviceId: number;
  readonly name: string;
  readonly city: string;
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
}

/** Which master hotel a provider's hotel is. */
export interface Mapping {
  readonly serviceId: number;
  readonly providerName: string;
  readonly providerHotelId: string;
}

/** What is known about hotels now. */
export interface HotelDirectory {
  /** The master hotel that a provider's hotel is; undefined for an unknown hotel. */
  serviceIdOf(providerName: string, providerHotelId: string): number | undefined;
  hotelOf(serviceId: number): Hotel | undefined;
}

/** A world in which people book: its hotels, and the mappings that the service states, of which some may be wrong. */
export interface BookableWorld extends HotelDirectory {
  readonly hotels: readonly Hotel[];
  readonly mappings: readonly Mapping[];
}

/** The hotels that the sandbox knows, and their mappings, before anything changes. */
export interface World extends BookableWorld {
  readonly seed: number;
  readonly providers: readonly string[];
  /** The true mappings of the provider hotels whose stated mapping is wrong. */
  readonly corrections: readonly Mapping[];
}

/** The default world. */
export const usualWorldSeed = 1;
const usualHotelCount = 2_000;

interface WorldOptions {
  /** The same seed gives the same world. */
  readonly seed: number;
  readonly hotels?: number;
  /** The share of the mappings that the service states wrongly until it corrects them; none by default. */
  readonly wrongMappings?: number;
}

const firstWords = ['Grand', 'Hôtel', 'Casa', 'Park', 'Royal', 'Old Town', 'Riverside', 'Blue'] as const;
const lastWords = ['Plaza', 'Palace', 'Garden', 'Inn', 'Suites', 'Résidence', 'Lodge', 'Harbour'] as const;

/** Each provider numbers hotels its own way: with leading zeros, with letters, in hexadecimal. */
const providers: Readonly<Record<string, (number: number) => string>> = {
  NorthStar: (number) => String(number).padStart(8, '0'),
  Bedlink: (number) => `BL-${number}`,
  'Room & Co': (number) => number.toString(36).toUpperCase().padStart(6, '0'),
  Atlántico: (number) => `ATL${String(number).padStart(7, '0')}ES`,
  Sakura: (number) => number.toString(16),
  Meridian: (number) => String(number),
};

/** Ids have gaps, so that a slightly wrong id may belong to no hotel. */
const firstServiceId = 100_000;
const serviceIdStep = 7;

/** Makes a world: some of the providers sell each hotel, and each provider's hotel is one master hotel. */
export function createWorld({
  seed,
  hotels: count = usualHotelCount,
  wrongMappings = 0,
}: WorldOptions): World {
  const random = createSeededRandom(seed);
  const hotels = Array.from({ length: count }, (_, place) => makeHotel(place, random));
  const truth = hotels.flatMap((hotel, place) => makeMappings(hotel, place, random));
  const { mappings, corrections } = mistake(
    truth,
    hotels,
    wrongMappings,
    createSeededRandom(seed ^ 0x77726f),
  );
  let masters: ReadonlyMap<string, ReadonlyMap<string, number>> | undefined;
  return {
    seed,
    hotels,
    providers: Object.keys(providers),
    mappings,
    corrections,
    serviceIdOf(providerName, providerHotelId) {
      masters ??= indexMasters(truth);
      return masters.get(providerName)?.get(providerHotelId);
    },
    hotelOf: (serviceId) => findHotel(hotels, serviceId),
  };
}

/** Lets the service state a share of the mappings wrongly: as any other hotel of the world. */
function mistake(
  truth: readonly Mapping[],
  hotels: readonly Hotel[],
  share: number,
  random: () => number,
): Pick<World, 'mappings' | 'corrections'> {
  const isMistaken = createEvenSelector(hotels.length < 2 ? 0 : share, random);
  const corrections: Mapping[] = [];
  const mappings = truth.map((mapping) => {
    if (!isMistaken()) return mapping;
    corrections.push(mapping);
    // The ids rise with the places.
    const place = Math.floor(random() * (hotels.length - 1));
    const { serviceId } = hotels[place] as Hotel;
    const other = serviceId < mapping.serviceId ? serviceId : (hotels[place + 1] as Hotel).serviceId;
    return { ...mapping, serviceId: other };
  });
  return { mappings, corrections };
}

/** Makes the hotel at a place of the world's list. Its id is unique to that place. */
export function makeHotel(place: number, random: () => number): Hotel {
  const pick = createPick(random);
  const { city, country } = pick(places);
  return {
    serviceId: firstServiceId + place * serviceIdStep + Math.floor(random() * serviceIdStep),
    name: `${pick(firstWords)} ${pick(lastWords)} ${city}`,
    city,
    country,
  };
}

/** Finds a hotel in the list that makeHotel filled. */
export function findHotel(hotels: readonly Hotel[], serviceId: number): Hotel | undefined {
  const hotel = hotels[Math.floor((serviceId - firstServiceId) / serviceIdStep)];
  return hotel?.serviceId === serviceId ? hotel : undefined;
}

/** Lets at least one provider sell a hotel. No provider uses an id twice. */
export function makeMappings({ serviceId }: Hotel, place: number, random: () => number): Mapping[] {
  const isSoldBy = () => random() < 0.6;
  const sellers = Object.entries(providers).filter(isSoldBy);
  const [anySeller] = Object.entries(providers);
  return (sellers.length === 0 && anySeller ? [anySeller] : sellers).map(([providerName, numberOf]) => ({
    serviceId,
    providerName,
    providerHotelId: numberOf(10_000 + place * 11 + Math.floor(random() * 11)),
  }));
}

function indexMasters(mappings: readonly Mapping[]): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const masters = new Map<string, Map<string, number>>();
  for (const { serviceId, providerName, providerHotelId } of mappings) {
    const ofProvider = masters.get(providerName) ?? new Map<string, number>();
    masters.set(providerName, ofProvider.set(providerHotelId, serviceId));
  }
  return masters;
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
  world: HotelDirectory,
): boolean {
  if (providerName === undefined || providerHotelId === undefined) return true;
  return world.serviceIdOf(providerName, providerHotelId) === serviceId;
}
