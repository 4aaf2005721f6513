import type { Booking } from './booking.js';
import { hashPlainText, hashText } from './text-hash.js';

/** The keys by which a ledger finds a booking. */
export interface BookingKeys extends StayKey {
  /** See `hashReference`. */
  readonly referenceHash: number;
}

/** The keys by which a ledger finds a booking's stay. */
export interface StayKey {
  /** See `hashHotel`. */
  readonly hotelHash: number;
  /** Days since 1970-01-01. */
  readonly checkIn: number;
}

/** Stands for the hotel of a booking without a provider or a provider hotel id. */
export const noHotel = 0;

/** Stands for a check-in that is missing, or later than 2149. */
export const unknownCheckIn = 0xffff;

/** The provider's part of a provider hotel's hash. */
export function hashProvider(name: string): number {
  // No text of a booking contains the separator.
  return hashText('\0', hashText(name));
}

/** The hash of a provider hotel. Ledgers store it, so it must never change. */
export function hashHotel(providerHash: number, providerHotelId: string): number {
  return hashText(providerHotelId, providerHash) || noHotel + 1;
}

/** The same for a hotel id in ASCII bytes. */
export function hashPlainHotel(providerHash: number, bytes: Uint8Array, start: number, end: number): number {
  return hashPlainText(bytes, start, end, providerHash) || noHotel + 1;
}

/** For single look-ups: unlike `createStayKeys`, it remembers nothing. */
export function hashProviderHotel({
  providerName,
  providerHotelId,
}: Required<Pick<Booking, 'providerName' | 'providerHotelId'>>): number {
  return hashHotel(hashProvider(providerName), providerHotelId);
}

/** Providers and check-ins repeat over a day, so each is computed once, as long as there are few. */
const maxKnown = 4096;

/** Creates the function that finds the key of a booking's stay. */
export function createStayKeys(): (booking: Booking) => StayKey {
  const providers = new Map<string, number>();
  const checkIns = new Map<string, number>();
  return ({ providerName, providerHotelId, checkInDate }) => ({
    hotelHash:
      providerName === undefined || providerHotelId === undefined
        ? noHotel
        : hashHotel(remember(providers, providerName, hashProvider), providerHotelId),
    checkIn: checkInDate === undefined ? unknownCheckIn : remember(checkIns, checkInDate, countDays),
  });
}

function remember(known: Map<string, number>, text: string, find: (text: string) => number): number {
  const found = known.get(text) ?? find(text);
  if (known.size < maxKnown) known.set(text, found);
  return found;
}

/** The days from 1970-01-01 to a calendar date; 0 for an earlier one. */
export function countDays(iso: string): number {
  return Math.min(Math.max(Date.parse(iso) / 86_400_000, 0), unknownCheckIn);
}
