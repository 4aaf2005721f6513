import { lineEnd } from '../../base/csv-cells.js';
import { bookingFields } from '../../booking/booking.js';

/** 64 bits of a key. */
export interface KeyHash {
  readonly high: number;
  readonly low: number;
}

/** A slot holds the key's number plus one (0 marks a free slot) and the two halves of its hash. */
const slotWidth = 3;

/**
 * Numbers keys in order of arrival, from 0, and keeps 64 bits of each: a hash table in one typed array, about 30 bytes
 * per key. A key's data is adjacent, because memory accesses dominate the cost. Keys with equal hashes count as one, which
 * for a million keys a day happens once in about ten million days.
 */
export function createKeyTable() {
  let slots = new Uint32Array(slotWidth * 2 ** 11);
  let mask = 2 ** 11 - 1;
  let size = 0;

  /** The offset of the slot with that hash, or of the free slot where it belongs. */
  function findSlot({ high, low }: KeyHash): number {
    for (let slot = low & mask; ; slot = (slot + 1) & mask) {
      const at = slotWidth * slot;
      if (slots[at] === 0 || (slots[at + 1] === low && slots[at + 2] === high)) return at;
    }
  }

  function fill(number: number, { high, low }: KeyHash): void {
    slots.set([number + 1, low, high], findSlot({ high, low }));
  }

  function grow(): void {
    const before = slots;
    slots = new Uint32Array(2 * before.length);
    mask = 2 * mask + 1;
    for (let from = 0; from < before.length; from += slotWidth) {
      const [taken = 0, low = 0, high = 0] = before.subarray(from, from + slotWidth);
      if (taken !== 0) fill(taken - 1, { high, low });
    }
  }

  function find(key: KeyHash): number | undefined {
    const taken = slots[findSlot(key)] ?? 0;
    return taken === 0 ? undefined : taken - 1;
  }

  return {
    get size() {
      return size;
    },
    find,
    findOrAdd(key: KeyHash): number {
      const known = find(key);
      if (known !== undefined) return known;
      fill(size, key);
      size += 1;
      // At most three quarters full, so that a free slot is near.
      if (4 * size > 3 * (mask + 1)) grow();
      return size - 1;
    },
  };
}

/** Numbers by index, initially 0. */
export function createCounters(List: Uint32ArrayConstructor | Float64ArrayConstructor = Uint32Array) {
  let values = new List(2 ** 10);

  const get = (position: number) => values[position] ?? 0;
  function set(position: number, value: number): void {
    if (position >= values.length) {
      const larger = new List(2 * (position + 1));
      larger.set(values);
      values = larger;
    }
    values[position] = value;
  }
  return { get, set, add: (position: number, more: number) => set(position, get(position) + more) };
}

/** Hashes by index. */
export function createHashes() {
  /** The two halves; both 0 if there is none. */
  const highOf = createCounters();
  const lowOf = createCounters();

  return {
    set(position: number, { high, low }: KeyHash): void {
      highOf.set(position, high);
      lowOf.set(position, low);
    },
    get(position: number): KeyHash | undefined {
      const high = highOf.get(position);
      const low = lowOf.get(position);
      return high === 0 && low === 0 ? undefined : { high, low };
    },
  };
}

/** Separates the texts of a key. As a control character it occurs in none of them. */
const gap = 0x1f;
const lastAscii = 0x7f;
const highFactor = 2654435761;
const lowFactor = 1597334677;

/**
 * Hashes the texts of one key after another: two 32-bit hashes over all bytes. A text and its UTF-8 bytes have the same
 * hash. A hash is valid until the next key.
 */
export function createKeyHasher() {
  let high = 0;
  let low = 0;

  const hasher = {
    get high() {
      return scatter(high, low);
    },
    get low() {
      return scatter(low, high);
    },
    /** Starts a new key. */
    begin(): void {
      high = 0xdeadbeef;
      low = 0x41c6ce57;
    },
    /** Adds the text in `bytes` from `from` up to, but excluding, `to`. */
    addBytes(bytes: Uint8Array, from: number, to: number): void {
      // Local variables, because this loop runs for nearly every byte of the file.
      let newHigh = high;
      let newLow = low;
      for (let at = from; at < to; at += 1) {
        const byte = bytes[at] ?? 0;
        newHigh = Math.imul(newHigh ^ byte, highFactor);
        newLow = Math.imul(newLow ^ byte, lowFactor);
      }
      high = Math.imul(newHigh ^ gap, highFactor);
      low = Math.imul(newLow ^ gap, lowFactor);
    },
    addText(text: string): void {
      let newHigh = high;
      let newLow = low;
      for (let at = 0; at < text.length; at += 1) {
        const unit = text.charCodeAt(at);
        if (unit > lastAscii) {
          const bytes = Buffer.from(text);
          hasher.addBytes(bytes, 0, bytes.length);
          return;
        }
        newHigh = Math.imul(newHigh ^ unit, highFactor);
        newLow = Math.imul(newLow ^ unit, lowFactor);
      }
      high = Math.imul(newHigh ^ gap, highFactor);
      low = Math.imul(newLow ^ gap, lowFactor);
    },
    /** The hash of a key of these texts. */
    hash(...texts: readonly string[]): KeyHash {
      hasher.begin();
      texts.forEach(hasher.addText);
      return hasher;
    },
  };
  return hasher;
}

/** Makes every bit depend on all bits of both hashes. */
function scatter(hash: number, other: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 2246822507);
  mixed ^= Math.imul(other ^ (other >>> 13), 3266489909);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** The fields that identify a booking, in the order of the review file's columns. */
export const keyFields = ['serviceId', 'bookingReferenceId', 'providerName', 'providerHotelId'] as const;
export type KeyField = (typeof keyFields)[number];

const comma = 0x2c;
const quote = 0x22;
const lineFeed = lineEnd.charCodeAt(0);

/**
 * Creates a function that hashes the given fields of the stored line at `start`. It reads bytes and creates no
 * strings. The hash is valid until the next call.
 *
 * @throws RangeError for anything but a stored line; the message contains no cell
 */
export function createSentNameReader(fields: readonly KeyField[]): (lines: Buffer, start: number) => KeyHash {
  const hasher = createKeyHasher();
  const isNamed = bookingFields.map(({ property }) => fields.some((field) => field === property));
  const width = isNamed.lastIndexOf(true) + 1;

  return (lines, start) => {
    hasher.begin();
    let at = start;
    for (let column = 0; column < width; column += 1) {
      const end = findCellEnd(lines, at);
      // A doubled quote is one in the text.
      if (isNamed[column] && lines[at] === quote) hasher.addText(readCell(lines, at, end));
      else if (isNamed[column]) hasher.addBytes(lines, at, end);
      at = end + 1;
    }
    return hasher;
  };
}

/** The text of a field in the stored line at `start`; empty if it is missing. */
export function readSentText(lines: Buffer, start: number, field: KeyField): string {
  let at = start;
  for (const { property } of bookingFields) {
    const end = findCellEnd(lines, at);
    if (property === field) return readCell(lines, at, end);
    at = end + 1;
  }
  return '';
}

/** Calls `take` for each stored line with its offset and index. */
export function forEachLine(lines: Buffer, take: (start: number, place: number) => void): void {
  let start = 0;
  for (let place = 0; start < lines.length; place += 1) {
    take(start, place);
    const end = lines.indexOf(lineFeed, start);
    if (end === -1) return;
    start = end + 1;
  }
}

/** The comma after a cell, which is never the last one of its line. */
function findCellEnd(lines: Buffer, start: number): number {
  let isInside = false;
  for (let at = start; at < lines.length; at += 1) {
    const byte = lines[at];
    if (byte === quote) isInside = !isInside;
    else if (byte === comma && !isInside) return at;
    else if (byte === lineFeed) break;
  }
  throw new RangeError('a stored review line lacks cells');
}

function readCell(lines: Buffer, start: number, end: number): string {
  const text = lines.toString('utf8', start, end);
  return lines[start] === quote ? text.slice(1, -1).replaceAll('""', '"') : text;
}

/** What a reference has in common with other spellings of it. If that is nothing, it has none. */
export function formOf(reference: string): string {
  return foldReference(reference) || `=${reference}`;
}

const padding = /[\s\p{Cc}\p{Cf}'"\u2019=]/u;

/**
 * A reference without what spreadsheets and databases change on the way: letter case, padding (white space, leading
 * zeros), and the quotes, apostrophes and formulas that keep an id a text.
 */
export function foldReference(reference: string): string {
  let start = 0;
  let end = reference.length;
  while (start < end && padding.test(reference.charAt(start))) start += 1;
  while (end > start && padding.test(reference.charAt(end - 1))) end -= 1;
  while (start < end - 1 && reference[start] === '0') start += 1;
  return reference.slice(start, end).toLowerCase();
}

/** With ten thousand incorrect rows, one line in a hundred is hashed needlessly. */
export const startBits = 20;

/** Equal for all lines with the same master id and reference, which come first, even if the second comma is inside quotes. */
export function hashStart(lines: Buffer, start: number): number {
  let hash = 0;
  let commas = 0;
  for (let at = start; at < lines.length && commas < 2; at += 1) {
    const byte = lines[at] ?? 0;
    if (byte === comma) commas += 1;
    hash = Math.imul(hash ^ byte, 2654435761);
  }
  return hash >>> (32 - startBits);
}
