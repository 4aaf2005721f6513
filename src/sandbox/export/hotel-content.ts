import type { BrandOfChain } from '../brands.js';
import { placeOf, places } from '../places.js';
import { plusCodeOf } from '../plus-code.js';
import { createSeededRandom } from '../seeded-random.js';
import type { Hotel } from '../world.js';

/** What the content file tells of a hotel, by its columns, but for its id and its provider. (Spec 2.7.) */
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
/** How far hotels are from the middle of their city, in degrees. */
const farthest = 0.1;

/** Makes up what is told of a hotel: always the same of the same one. One in three belongs to no chain. */
export function contentOf(hotel: Hotel, brands: readonly BrandOfChain[]): HotelContent {
  const random = createSeededRandom(Math.imul(hotel.serviceId, 0x9e3779b1));
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const place = placeOf(hotel.city);
  const latitude = place.latitude + (random() - 0.5) * farthest;
  const longitude = place.longitude + (random() - 0.5) * farthest;
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

/** The columns of the content file behind `ServiceId`, in the specification's order. */
export const contentColumns = [
  ...['HotelName', 'Lat', 'Long', 'AddressLine1', 'AddressLine2', 'City', 'State', 'StateCode'],
  ...['CountryName', 'CountryCode', 'PostalCode', 'StarRating', 'PropertyType', 'ChainName', 'BrandName'],
  ...['CityLocationId', 'MasterCityName', 'LocationIds', 'Phones', 'Fax', 'Email', 'Website'],
  ...['AirportCodes', 'TrainStations', 'ProviderHotelId', 'ProviderFamily', 'GooglePlusCode'],
] as const;
