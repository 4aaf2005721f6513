import { formatKilometres } from '../../text/format.js';
import type { HotelPair, LocatedHotel } from './compare-hotels.js';
import type { KnownHotel } from './hotel-contents.js';

/** What is known about a master hotel, as `--json` prints it; null stands for unknown. */
export function toHotelReport(hotel: KnownHotel) {
  const { serviceId, name, address, city, country, countryCode, coordinates, phones, email, website } = hotel;
  return {
    serviceId,
    name: name ?? null,
    address: address ?? null,
    city: city ?? null,
    country: country ?? null,
    countryCode: countryCode ?? null,
    latitude: coordinates?.latitude ?? null,
    longitude: coordinates?.longitude ?? null,
    phones: phones ?? null,
    email: email ?? null,
    website: website ?? null,
    loadedAt: new Date(hotel.loadedAt).toISOString(),
  };
}

/** Two hotels as `--json` prints them; null stands for unknown. */
export function toPairReport({ bookedHotel, copyHotel, distanceKm, hoursToCheckIn }: HotelPair) {
  return {
    bookedHotel: bookedHotel ? toLocatedReport(bookedHotel) : null,
    copyHotel: copyHotel ? toLocatedReport(copyHotel) : null,
    distanceKm: distanceKm ?? null,
    hoursToCheckIn: hoursToCheckIn ?? null,
  };
}

export type PairReport = ReturnType<typeof toPairReport>;

function toLocatedReport({ timeZone, localTime, ...hotel }: LocatedHotel) {
  return { ...toHotelReport(hotel), timeZone: timeZone ?? null, localTime: localTime ?? null };
}

const pairMembers = ['bookedHotel', 'copyHotel'] as const;
/** What `--csv` has of each hotel. */
const hotelMembers = ['name', 'city', 'country', 'phones', 'localTime'] as const;
const nameColumn = (member: string, of: string) => `${member}${of.charAt(0).toUpperCase()}${of.slice(1)}`;

/** The columns of a pair in `--csv`: `bookedHotelName`, … */
export const pairColumns: readonly string[] = [
  ...pairMembers.flatMap((member) => hotelMembers.map((of) => nameColumn(member, of))),
  'distanceKm',
  'hoursToCheckIn',
];

/** A pair under the columns of `--csv`; what is unknown is empty. */
export function toPairCells(pair: HotelPair): Record<string, string | number | undefined> {
  const cells: Record<string, string | number | undefined> = {
    distanceKm: pair.distanceKm,
    hoursToCheckIn: pair.hoursToCheckIn,
  };
  for (const member of pairMembers)
    for (const of of hotelMembers) cells[nameColumn(member, of)] = pair[member]?.[of];
  return cells;
}

export function describeDistance(km: number | undefined): string {
  if (km === undefined) return 'distance unknown';
  if (km < 0.1) return 'less than 0.1 km away';
  return `${formatKilometres(km)} away`;
}

export function describeHours(hours: number): string {
  if (hours < 0) return hours < -24 ? 'the check-in day is over' : 'the check-in day has begun';
  return hours < 72 ? `${hours} h to check-in` : `${Math.floor(hours / 24)} days to check-in`;
}
