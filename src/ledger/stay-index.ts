import { countDays, noHotel, unknownLastDay } from '../booking/booking-keys.js';
import type { StayKeys } from './collecting.js';
import { bytesPerEntry, createHashIndex, type HashIndexOptions, type HashPage } from './hash-index.js';

/** A page of provider hotels: each word holds the last day of the stay and the booking's position. */
export interface StayPage extends HashPage {
  /** What the positions in the page are counted from. */
  readonly firstPosition: number;
  /** The latest in the page: see `toStoredDay`. */
  readonly latestDay: number;
}

const positionBits = 20;
const mostPositions = 2 ** positionBits;
/** The other half leaves room for the last chunk, which has far fewer bookings. */
const positionsPerSegment = mostPositions / 2;

/** Stands for a last day that is unknown, or later than eleven years after the business day. */
export const openLastDay = 0xfff;

/**
 * Indexes the bookings of one form by their provider hotels. The last day of the stay stands beside the position, so that
 * stays that are over are skipped without reading a booking. Positions are counted from the first one of each segment.
 *
 * @param day the business day
 */
export function createStayIndex(options: HashIndexOptions, day: string) {
  const index = createHashIndex(options);
  const dayNumber = countDays(day);
  let firstPosition = 0;
  let end = 0;

  return {
    /** @param firstOfBatch the position of the batch's first booking */
    addBatch({ hotelHashes, lastDays }: StayKeys, firstOfBatch: number): void {
      if (end === 0) firstPosition = firstOfBatch;
      end = firstOfBatch + hotelHashes.length;
      if (end - firstPosition > mostPositions)
        throw new RangeError(`expected at most ${mostPositions} bookings in a segment`);
      const offset = firstOfBatch - firstPosition;
      // A loop over indexes: an iterator takes three times as long.
      for (let place = 0; place < hotelHashes.length; place += 1) {
        const lastDay = toStoredDay(lastDays[place] ?? unknownLastDay, dayNumber);
        index.add(hotelHashes[place] ?? noHotel, lastDay * mostPositions + offset + place);
      }
    },

    /** Whether the pages should be written now and the index cleared. */
    get isFull(): boolean {
      return index.isFull || end - firstPosition >= positionsPerSegment;
    },

    /** Sorts the entries and splits them into pages; repeated calls return the same pages. */
    *pages(): Generator<StayPage> {
      for (const page of index.pages())
        yield { ...page, firstPosition, latestDay: findLatestDay(page.entries) };
    },

    /** Removes all entries, once their pages are written. */
    clear(): void {
      index.clear();
      end = 0;
    },
  };
}

/** The days from the business day to the last day of the stay; 0 for an earlier one, which is in the booking's line. */
export function toStoredDay(lastDay: number, dayNumber: number): number {
  if (lastDay === unknownLastDay) return openLastDay;
  return Math.min(Math.max(lastDay - dayNumber, 0), openLastDay);
}

/** @param from the earliest last day: see `toStoredDay` */
export function readStayWords(words: readonly number[], firstPosition: number, from: number): number[] {
  return words
    .filter((word) => lastDayOf(word) >= from)
    .map((word) => firstPosition + (word % mostPositions));
}

/** The page's entries without that booking. */
export function removeFromStayPage(entries: Buffer, hash: number, place: number): Buffer {
  const kept: Buffer[] = [];
  for (let at = 0; at < entries.length; at += bytesPerEntry) {
    const isRemoved =
      entries.readUInt32LE(at + 4) === hash && entries.readUInt32LE(at) % mostPositions === place;
    if (!isRemoved) kept.push(entries.subarray(at, at + bytesPerEntry));
  }
  return Buffer.concat(kept);
}

function lastDayOf(word: number): number {
  return word >>> positionBits;
}

function findLatestDay(entries: Buffer): number {
  let last = 0;
  for (let at = 0; at < entries.length; at += bytesPerEntry)
    last = Math.max(last, lastDayOf(entries.readUInt32LE(at)));
  return last;
}
