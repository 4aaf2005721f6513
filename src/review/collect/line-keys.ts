import type { BookingKeys } from '../../booking/booking-keys.js';

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

/** Copies all keys of `source` to those of the lines from `index`. */
export function copyLineKeys(source: LineKeys, target: LineKeys, index: number): void {
  target.referenceHashes.set(source.referenceHashes, index);
  target.hotelHashes.set(source.hotelHashes, index);
  target.lastDays.set(source.lastDays, index);
}
