import { type BookingKeys, noHotel, unknownLastDay } from '../../booking/booking-keys.js';
import { noReference } from '../../booking/reference-hash.js';

/** The keys of rendered lines, one entry per line: see `BookingKeys`. */
export interface LineKeys {
  readonly referenceHashes: Uint32Array<ArrayBuffer>;
  readonly hotelHashes: Uint32Array<ArrayBuffer>;
  readonly lastDays: Uint16Array<ArrayBuffer>;
}

export function createLineKeys(lines: number): LineKeys {
  return {
    referenceHashes: new Uint32Array(lines),
    hotelHashes: new Uint32Array(lines),
    lastDays: new Uint16Array(lines),
  };
}

/** Sets the keys of one line. */
export function setLineKeys(
  keys: LineKeys,
  index: number,
  { referenceHash, hotelHash, lastDay }: BookingKeys,
): void {
  keys.referenceHashes[index] = referenceHash;
  keys.hotelHashes[index] = hotelHash;
  keys.lastDays[index] = lastDay;
}

/** The keys of the lines from `first` up to `end`, in the same memory. */
export function sliceLineKeys(
  { referenceHashes, hotelHashes, lastDays }: LineKeys,
  first: number,
  end: number,
): LineKeys {
  return {
    referenceHashes: referenceHashes.subarray(first, end),
    hotelHashes: hotelHashes.subarray(first, end),
    lastDays: lastDays.subarray(first, end),
  };
}

/** Copies the keys of one line. */
export function copyLineKeys(source: LineKeys, from: number, target: LineKeys, to: number): void {
  target.referenceHashes[to] = source.referenceHashes[from] ?? noReference;
  target.hotelHashes[to] = source.hotelHashes[from] ?? noHotel;
  target.lastDays[to] = source.lastDays[from] ?? unknownLastDay;
}
