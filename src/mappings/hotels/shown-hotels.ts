import { formatKilometres } from '../../base/format.js';
import { fitParts } from '../../base/tables.js';
import type { KnownHotel } from '../../ledger/hotels.js';
import { type CopiedHotel, type CopyStanding, neverSynced } from '../copied-hotels.js';
import type { HotelPair, LocatedHotel } from './compare-hotels.js';

/** What is known about a master hotel, as `--json` prints it; null stands for unknown. */
export function hotelToJson(hotel: KnownHotel) {
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
export function pairToJson({ bookedHotel, copyHotel, distanceKm, hoursToCheckIn }: HotelPair) {
  return {
    bookedHotel: bookedHotel ? locatedToJson(bookedHotel) : null,
    copyHotel: copyHotel ? locatedToJson(copyHotel) : null,
    distanceKm: distanceKm ?? null,
    hoursToCheckIn: hoursToCheckIn ?? null,
  };
}

export type PairJson = ReturnType<typeof pairToJson>;

function locatedToJson({ timeZone, localTime, ...hotel }: LocatedHotel) {
  return { ...hotelToJson(hotel), timeZone: timeZone ?? null, localTime: localTime ?? null };
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
export function pairToCells(pair: HotelPair): Record<string, string | number | undefined> {
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

interface PairIds extends CopiedHotel {
  readonly serviceId: number;
}

/** The two hotels, a line or two for each, within 80 columns. */
export function renderPair(pair: HotelPair, { serviceId, copyServiceId, copy }: PairIds): string[] {
  const { bookedHotel, copyHotel, distanceKm, hoursToCheckIn } = pair;
  const hours = hoursToCheckIn === undefined ? [] : [describeHours(hoursToCheckIn)];
  return [
    ...fitParts('booked:', [...describeLocated(bookedHotel), ...hours]),
    ...(copyServiceId === serviceId
      ? ['    copy:   the same hotel']
      : fitParts('copy:', [
          ...(copyServiceId === null ? [describeMissing(copy)] : describeLocated(copyHotel)),
          ...(copyServiceId === null ? [] : [describeDistance(distanceKm)]),
        ])),
  ];
}

export function describeMissing(copy: CopyStanding): string {
  return copy === 'never-synced' ? neverSynced : 'no master hotel';
}

function describeLocated(hotel: LocatedHotel | undefined): string[] {
  if (!hotel) return ['unknown'];
  const { name = 'without a name', city, country, countryCode, phones, localTime } = hotel;
  return [
    name,
    city,
    countryCode ?? country,
    phones,
    localTime && `${localTime.slice('2026-'.length).replace('T', ' ')} there`,
  ].filter((part) => part !== undefined);
}
