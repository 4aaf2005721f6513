import { type Booking, listTexts, textFields } from '../../booking/booking.js';
import { blockOf, createLineIndex } from './line-index.js';

/** What identifies a booking of a day: all its fields but the guest's name. */
export function keyOfBooking(booking: Booking): string {
  const texts = listTexts(booking);
  return JSON.stringify([booking.serviceId, ...keyIndexes.map((index) => texts[index])]);
}

const keyIndexes = textFields.flatMap(({ kind }, index) => (kind === 'guest-name' ? [] : [index]));

/** Before each text, so that its hashes differ: which of the two hashes it is for, and which occurrence it is. */
const [hashAt, occurrenceAt, textAt] = [0, 4, 8];
const bytesPerUnit = 3;

/** The bytes of a text as the indexes hash them. Written once, although it is hashed several times in a row. */
function createScratch() {
  let written: string | undefined;
  let block = blockOf(Buffer.alloc(1_024), [0]);
  return (hash: 1 | 2, occurrence: number, text: string) => {
    if (text !== written) {
      const needed = textAt + bytesPerUnit * text.length;
      const bytes = needed > block.bytes.length ? Buffer.alloc(2 * needed) : block.bytes;
      block = blockOf(bytes, [textAt + bytes.write(text, textAt)]);
      written = text;
    }
    block.view.setUint32(hashAt, hash);
    block.view.setUint32(occurrenceAt, occurrence);
    return block;
  };
}

/**
 * Numbers occurrences of texts in the order in which they come, in about ten bytes each. Two hashes of 38 bits agree by chance once
 * in 10^23 pairs, so a text that is found counts without being compared.
 */
export function createOccurrenceIndex() {
  const [one, other] = [createLineIndex(), createLineIndex()];
  const write = createScratch();
  /** What shares one of the two hashes with something else: hardly ever anything. */
  const collided = new Map<string, number>();
  let size = 0;

  function add(text: string, occurrence: number): undefined {
    const isFree = other.findOrRemember(write(2, occurrence, text), 0, size) === undefined;
    if (!isFree) collided.set(`${occurrence} ${text}`, size);
    size += 1;
  }

  return {
    get size(): number {
      return size;
    },
    find(text: string, occurrence = 1): number | undefined {
      const position = one.find(write(1, occurrence, text), 0);
      if (position !== undefined && position === other.find(write(2, occurrence, text), 0)) return position;
      return collided.size === 0 ? undefined : collided.get(`${occurrence} ${text}`);
    },
    /** Adds what is not there. @returns its number if it is */
    findOrAdd(text: string, occurrence = 1): number | undefined {
      const position = one.findOrRemember(write(1, occurrence, text), 0, size);
      if (position === undefined) return add(text, occurrence);
      if (position === other.find(write(2, occurrence, text), 0)) return position;
      const name = `${occurrence} ${text}`;
      const known = collided.get(name);
      if (known !== undefined) return known;
      collided.set(name, size);
      size += 1;
      return undefined;
    },
  };
}

/** Counts how often each key occurs. */
export function createKeyCounter() {
  const index = createOccurrenceIndex();

  /** Occurrences are numbered without gaps, so the last one is found by halving. */
  function count(key: string): number {
    let beyond = 2;
    while (index.find(key, beyond) !== undefined) beyond *= 2;
    let last = beyond / 2;
    while (beyond - last > 1) {
      const middle = (last + beyond) >> 1;
      if (index.find(key, middle) === undefined) beyond = middle;
      else last = middle;
    }
    return last;
  }

  return {
    /** Returns which occurrence this is, counted from 1. */
    add(key: string): number {
      if (index.findOrAdd(key) === undefined) return 1;
      const occurrence = count(key) + 1;
      index.findOrAdd(key, occurrence);
      return occurrence;
    },
  };
}

export type KeyCounter = ReturnType<typeof createKeyCounter>;
