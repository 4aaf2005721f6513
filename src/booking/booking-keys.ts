import type { Booking } from './booking.js';
import { checkOutOf, daysWithoutCheckOut } from './stay.js';

/** The keys by which a ledger finds a booking. */
export interface BookingKeys extends StayKey {
  /** See `hashReference`. */
  readonly referenceHash: number;
}

/** The keys by which a ledger finds a booking's stay. */
interface StayKey {
  /** See `hashHotel`. */
  readonly hotelHash: number;
  /** The last day on which the guest may be there, in days since 1970-01-01: see `isOver`. */
  readonly lastDay: number;
}

const prime = 0x01000193;

/** The hash of the empty text. */
const emptyHash = 0x811c9dc5;

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
function hashHotel(providerHash: number, providerHotelId: string): number {
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

/** Stands for a booking without a reference. */
export const noReference = 0;

/** The hash by which a ledger finds the bookings with a reference. */
export function hashReference(reference: string | undefined): number {
  return reference === undefined ? noReference : hashText(reference) || noReference + 1;
}

/** The same for a reference in ASCII bytes. */
export function hashPlainReference(bytes: Uint8Array, start: number, end: number): number {
  return hashPlainText(bytes, start, end) || noReference + 1;
}

/**
 * 32-bit FNV-1a over UTF-16 units. Ledgers store such hashes, so it must never change.
 *
 * @param before the hash of what precedes the text
 */
function hashText(text: string, before = emptyHash): number {
  let hash = before;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), prime);
  return hash >>> 0;
}

/** The same for a text in ASCII bytes. */
function hashPlainText(bytes: Uint8Array, start: number, end: number, before = emptyHash): number {
  let hash = before;
  for (let index = start; index < end; index += 1) hash = Math.imul(hash ^ (bytes[index] ?? 0), prime);
  return hash >>> 0;
}
