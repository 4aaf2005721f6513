import type { Booking } from './booking.js';
import { checkOutOf, daysWithoutCheckOut } from './stay.js';
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
  /** The last day on which the guest may be there, in days since 1970-01-01: see `isOver`. */
  readonly lastDay: number;
}

/** Stands for the hotel of a booking without a provider or a provider hotel id. */
export const noHotel = 0;

/** Stands for a last day that is unknown, or later than 2149. */
export const unknownLastDay = 0xffff;

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

export function hashProviderHotel({
  providerName,
  providerHotelId,
}: Required<Pick<Booking, 'providerName' | 'providerHotelId'>>): number {
  return hashHotel(hashProvider(providerName), providerHotelId);
}

/** Finds the key of a booking's stay. */
export function findStayKey({ providerName, providerHotelId, checkInDate, checkOutDate }: Booking): StayKey {
  const checkOut = checkOutOf({ checkIn: checkInDate, checkOut: checkOutDate });
  return {
    hotelHash:
      providerName === undefined || providerHotelId === undefined
        ? noHotel
        : hashProviderHotel({ providerName, providerHotelId }),
    lastDay: findLastDay(
      checkInDate === undefined ? undefined : countDays(checkInDate),
      checkOut === undefined ? undefined : countDays(checkOut),
    ),
  };
}

/** The last day of a stay, from the days of its dates. */
export function findLastDay(checkIn: number | undefined, checkOut: number | undefined): number {
  if (checkOut !== undefined) return checkOut;
  return checkIn === undefined ? unknownLastDay : Math.min(checkIn + daysWithoutCheckOut, unknownLastDay);
}

/** The days from 1970-01-01 to a calendar date; 0 for an earlier one. */
export function countDays(iso: string): number {
  return Math.min(Math.max(Date.parse(iso) / 86_400_000, 0), unknownLastDay);
}
