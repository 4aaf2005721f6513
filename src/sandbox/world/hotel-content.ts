import { createPick, createSeededRandom } from '../common/random.js';
import { placeOf, places } from './places.js';
import type { Hotel } from './world.js';

/** A master hotel brand, as the service names its fields. (Spec 2.4.) */
interface Brand {
  readonly Id: number;
  readonly BrandCode: string;
  readonly BrandName: string;
  readonly ChainId: number;
}

export interface BrandOfChain extends Brand {
  readonly chainName: string;
}

const chains = 24;
const maxBrands = 6;
const firstChainId = 40;
const firstBrandId = 700;

const chainNames = [
  'Aurora',
  'Belvedere',
  'Cervantes',
  'Dragonfly',
  'Élan',
  'Fjord',
  'Granada',
  'Höhe',
] as const;
const chainKinds = ['Hotels', 'Group', 'Hospitality'] as const;
const brandKinds = ['Grand', 'Select', 'Express', 'Résidences', '& Spa', 'City'] as const;

/** Makes up the brands of a world: chains of one to six brands each. They never change. */
export function createBrands(seed: number): readonly BrandOfChain[] {
  const random = createSeededRandom(seed ^ 0x6b72);
  return Array.from({ length: chains }, (_, chain) => {
    const name = chainNames[chain % chainNames.length] as string;
    const kind = chainKinds[Math.floor(chain / chainNames.length)] as string;
    const ChainId = firstChainId + chain * 3 + Math.floor(random() * 3);
    const brands = 1 + Math.floor(random() * maxBrands);
    return brandKinds.slice(0, brands).map((brandKind, place) => ({
      Id: firstBrandId + chain * 10 + place,
      BrandCode: `${codeOf(name)}${chain + 1}${String.fromCharCode(65 + place)}`,
      BrandName: `${name} ${kind} ${brandKind}`,
      ChainId,
      chainName: `${name} ${kind}`,
    }));
  }).flat();
}

function codeOf(name: string): string {
  return name
    .normalize('NFD')
    .replaceAll(/\P{ASCII}/gu, '')
    .slice(0, 2)
    .toUpperCase();
}

/** A hotel's row in the content file by column, without its id and provider. (Spec 2.7.) */
export type HotelContent = Readonly<Record<string, string | number>>;

const streets = [
  'Calle Mayor',
  'Harbour Road',
  'Bahnhofstrasse',
  'Rua Augusta',
  'Nørregade',
  'Παναγή Τσαλδάρη',
];
const addressLines = ['', '', '2nd floor', 'Old Town, "The Mews"'];
const propertyTypes = ['Hotel', 'Hotel', 'Hotel', 'Apartment', 'Hostel', 'Resort'];
const firstLocationId = 500;
/** The width of a city in degrees. */
const cityWidth = 0.1;

/** Makes up a hotel's content, always the same for the same hotel. One hotel in three belongs to no chain. */
export function contentOf(hotel: Hotel, brands: readonly BrandOfChain[]): HotelContent {
  const random = createSeededRandom(Math.imul(hotel.serviceId, 0x9e3779b1));
  const pick = createPick(random);
  const place = placeOf(hotel.city);
  const latitude = place.latitude + (random() - 0.5) * cityWidth;
  const longitude = place.longitude + (random() - 0.5) * cityWidth;
  const cityLocation = firstLocationId + places.indexOf(place);
  const brand = random() < 0.66 ? pick(brands) : undefined;
  const telephone = `${place.dialling} ${100_000_000 + Math.floor(random() * 900_000_000)}`;
  return {
    HotelName: hotel.name,
    Lat: latitude.toFixed(6),
    Long: longitude.toFixed(6),
    AddressLine1: `${pick(streets)} ${1 + Math.floor(random() * 200)}`,
    AddressLine2: pick(addressLines),
    City: hotel.city,
    State: place.state,
    StateCode: place.stateCode,
    CountryName: place.countryName,
    CountryCode: hotel.country,
    PostalCode: String(10_000 + Math.floor(random() * 90_000)),
    StarRating: (2 + Math.floor(random() * 7) / 2).toFixed(1),
    PropertyType: pick(propertyTypes),
    ChainName: brand?.chainName ?? '',
    BrandName: brand?.BrandName ?? '',
    CityLocationId: cityLocation,
    MasterCityName: hotel.city,
    LocationIds: `${cityLocation};${cityLocation * 10 + Math.floor(random() * 10)}`,
    Phones: telephone,
    Fax: random() < 0.5 ? `${telephone}9` : '',
    Email: `hotel-${hotel.serviceId}@hotels.example`,
    Website: `https://hotels.example/${hotel.serviceId}`,
    AirportCodes: place.airports.join(';'),
    TrainStations: place.station,
    GooglePlusCode: plusCodeOf(latitude, longitude),
  };
}

/** The columns of the content file after `ServiceId`, in the order of the specification. */
export const contentColumns = [
  ...['HotelName', 'Lat', 'Long', 'AddressLine1', 'AddressLine2', 'City', 'State', 'StateCode'],
  ...['CountryName', 'CountryCode', 'PostalCode', 'StarRating', 'PropertyType', 'ChainName', 'BrandName'],
  ...['CityLocationId', 'MasterCityName', 'LocationIds', 'Phones', 'Fax', 'Email', 'Website'],
  ...['AirportCodes', 'TrainStations', 'ProviderHotelId', 'ProviderFamily', 'GooglePlusCode'],
] as const;

const digits = '23456789CFGHJMPQRVWX';
const pairs = 5;
/** The resolution of the last pair, in degrees. */
const resolution = 1 / 8_000;

/** The open location code of a place, accurate to about 14 metres: `8CGRC78W+HV`. */
export function plusCodeOf(latitude: number, longitude: number): string {
  let north = Math.floor((latitude + 90) / resolution);
  let east = Math.floor((longitude + 180) / resolution);
  let code = '';
  for (let pair = 0; pair < pairs; pair += 1) {
    code = `${digits.charAt(north % 20)}${digits.charAt(east % 20)}${code}`;
    north = Math.floor(north / 20);
    east = Math.floor(east / 20);
  }
  return `${code.slice(0, 8)}+${code.slice(8)}`;
}
