import type { Booking } from '../../booking/booking.js';
import { blockOf, createLineIndex, type LineBlock } from './line-index.js';

/** What identifies a booking of a day: all its fields but the guest's name, whichever form it was sent in. */
export function keyOfBooking(booking: Omit<Booking, 'bookingClientName'>): string {
  const { serviceId, bookingReferenceId, providerName, providerHotelId, checkInDate, checkOutDate } = booking;
  return JSON.stringify([
    serviceId,
    ...[bookingReferenceId, providerName, providerHotelId, checkInDate, checkOutDate],
  ]);
}

/**
 * Numbers texts in the order in which they come, in about ten bytes each. Two hashes of 38 bits agree by chance once in 10^23 pairs,
 * so a found text counts without being compared.
 */
export function createTextIndex() {
  const [one, other] = [createLineIndex(), createLineIndex()];
  /** Texts that share one of the two hashes with a different text: hardly ever any. */
  const collided = new Map<string, number>();
  let size = 0;

  function find(text: string): number | undefined {
    const known = collided.get(text);
    if (known !== undefined) return known;
    const position = one.find(toLine('1', text), 0);
    return position !== undefined && position === other.find(toLine('2', text), 0) ? position : undefined;
  }

  return {
    get size(): number {
      return size;
    },
    find,
    has: (text: string) => find(text) !== undefined,
    /** Adds a text that is not there. */
    add(text: string): number {
      const isKnown = [
        one.findOrRemember(toLine('1', text), 0, size),
        other.findOrRemember(toLine('2', text), 0, size),
      ].some((earlier) => earlier !== undefined);
      if (isKnown) collided.set(text, size);
      size += 1;
      return size - 1;
    },
  };
}

function toLine(before: string, text: string): LineBlock {
  const bytes = Buffer.from(before + text);
  return blockOf(bytes, [bytes.length]);
}

const nameOccurrence = (key: string, occurrence: number) => `${occurrence} ${key}`;

/** Numbers occurrences of keys, each of which was added after the ones before it. */
export function createOccurrenceIndex() {
  const index = createTextIndex();
  return {
    get size(): number {
      return index.size;
    },
    find: (key: string, occurrence: number) => index.find(nameOccurrence(key, occurrence)),
    add: (key: string, occurrence: number) => index.add(nameOccurrence(key, occurrence)),
  };
}

/** Counts how often each key occurs. */
export function createKeyCounter() {
  const index = createOccurrenceIndex();

  /** Occurrences are numbered without gaps, so the last one is found by halving. */
  function count(key: string): number {
    let beyond = 1;
    while (index.find(key, beyond) !== undefined) beyond *= 2;
    let last = Math.floor(beyond / 2);
    while (beyond - last > 1) {
      const middle = (last + beyond) >> 1;
      if (index.find(key, middle) === undefined) beyond = middle;
      else last = middle;
    }
    return last;
  }

  return {
    count,
    /** Returns which occurrence this is, counted from 1. */
    add(key: string): number {
      const occurrence = count(key) + 1;
      index.add(key, occurrence);
      return occurrence;
    },
  };
}

export type KeyCounter = ReturnType<typeof createKeyCounter>;
