import { createSeededRandom } from './seeded-random.js';

export interface Hotel {
  readonly serviceId: number;
  readonly name: string;
  readonly city: string;
  /** ISO 3166, two letters. */
  readonly country: string;
}

/** Which master hotel a provider's hotel is. */
export interface Mapping {
  readonly serviceId: number;
  readonly providerName: string;
  readonly providerHotelId: string;
}

/** The hotels that the sandbox knows, and the mappings that are right in it. */
export interface World {
  readonly hotels: readonly Hotel[];
  readonly providers: readonly string[];
  readonly mappings: readonly Mapping[];
  /** The master hotel that a provider's hotel is; undefined for a hotel that the world does not hold. */
  serviceIdOf(providerName: string, providerHotelId: string): number | undefined;
}

/** The world where no other is asked for. */
export const usualWorldSeed = 1;

export interface WorldOptions {
  /** The same seed makes the same world. */
  readonly seed: number;
  readonly hotels?: number;
}

const cities = [
  ['Madrid', 'ES'],
  ['Málaga', 'ES'],
  ['Lisboa', 'PT'],
  ['Zürich', 'CH'],
  ['København', 'DK'],
  ['Kraków', 'PL'],
  ['Ἀθῆναι', 'GR'],
  ['İstanbul', 'TR'],
  ['東京', 'JP'],
  ['São Paulo', 'BR'],
] as const;
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

/** Makes a world: each hotel is sold by some of the providers, and each provider's hotel is one master hotel. */
export function createWorld({ seed, hotels: count = 2_000 }: WorldOptions): World {
  const random = createSeededRandom(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;

  const hotels = Array.from({ length: count }, (_, index): Hotel => {
    const [city, country] = pick(cities);
    return {
      serviceId: 100_000 + index * 7 + Math.floor(random() * 7),
      name: `${pick(firstWords)} ${pick(lastWords)} ${city}`,
      city,
      country,
    };
  });
  const mappings = hotels.flatMap(({ serviceId }, index): Mapping[] => {
    const isSoldBy = () => random() < 0.6;
    const sellers = Object.entries(providers).filter(isSoldBy);
    // Every hotel can be booked somewhere.
    const [anySeller] = Object.entries(providers);
    return (sellers.length === 0 && anySeller ? [anySeller] : sellers).map(([providerName, numberOf]) => ({
      serviceId,
      providerName,
      providerHotelId: numberOf(10_000 + index * 11 + Math.floor(random() * 11)),
    }));
  });
  const masters = new Map(
    mappings.map(({ serviceId, providerName, providerHotelId }) => [
      keyOf(providerName, providerHotelId),
      serviceId,
    ]),
  );
  return {
    hotels,
    providers: Object.keys(providers),
    mappings,
    serviceIdOf: (providerName, providerHotelId) => masters.get(keyOf(providerName, providerHotelId)),
  };
}

function keyOf(providerName: string, providerHotelId: string): string {
  return `${providerName}\n${providerHotelId}`;
}
