import type { ExportedMapping } from './read-mapping-file.js';

/** 32 MB of bits; pages that are never written take no memory. */
const bits = 2 ** 28;
const bitsPerKey = 3;

interface LastRow {
  readonly row: number;
  readonly serviceId: number | undefined;
}

/**
 * Finds the provider hotels that occur in several rows of a file of any length, in constant memory (a Bloom filter): all
 * of them, and by chance a few others, which does no harm.
 */
export function createRepeatedHotels() {
  const seen = new Uint32Array(bits / 32);
  const lastRows = new Map<string, LastRow>();

  /** Adds a key; true if it may have been seen before. */
  function see(key: string): boolean {
    const [first, step] = hash(key);
    let wasSeen = true;
    for (let index = 0; index < bitsPerKey; index += 1) {
      const bit = (first + index * step) % bits;
      const [word, mask] = [bit >>> 5, 1 << (bit & 31)];
      const before = seen[word] ?? 0;
      if ((before & mask) !== 0) continue;
      wasSeen = false;
      seen[word] = before | mask;
    }
    return wasSeen;
  }

  return {
    /** Call it for all rows of the file in order before the first `laterThan`. */
    add(mapping: ExportedMapping): void {
      const key = keyOf(mapping);
      const { row, serviceId } = mapping;
      if (see(key)) lastRows.set(key, { row, serviceId });
    },
    /** A later row of the same hotel, which counts instead of this one; undefined where this one counts. */
    laterThan(mapping: ExportedMapping): LastRow | undefined {
      if (lastRows.size === 0) return undefined;
      const last = lastRows.get(keyOf(mapping));
      return last && last.row > mapping.row ? last : undefined;
    },
  };
}

function keyOf({ providerName, providerHotelId }: ExportedMapping): string {
  return `${providerName}\u0000${providerHotelId}`;
}

/** Two 32-bit numbers, the second one odd. (FNV-1a and a variant of it.) */
function hash(key: string): readonly [number, number] {
  let [one, other] = [0x811c9dc5, 0x9747b28c];
  for (let at = 0; at < key.length; at += 1) {
    const unit = key.charCodeAt(at);
    one = Math.imul(one ^ unit, 0x01000193);
    other = Math.imul(other ^ unit, 0x5bd1e995);
    other ^= other >>> 15;
  }
  one ^= one >>> 16;
  return [Math.imul(one, 0x85ebca6b) >>> 0, (other | 1) >>> 0];
}

const numbersInPage = 65_536;

export interface SeenNumbers {
  add(number: number): void;
  has(number: number): boolean;
  /** The first number not added, starting from that one. */
  nextUnseen(from: number): number;
}

/** A set of numbers with one bit each, in pages allocated as needed. */
export function createSeenNumbers(): SeenNumbers {
  const pages = new Map<number, Uint8Array>();

  function has(number: number): boolean {
    const bit = number % numbersInPage;
    const byte = pages.get(Math.floor(number / numbersInPage))?.[bit >>> 3] ?? 0;
    return (byte & (1 << (bit & 7))) !== 0;
  }

  return {
    add(number: number): void {
      const index = Math.floor(number / numbersInPage);
      const page = pages.get(index) ?? new Uint8Array(numbersInPage / 8);
      pages.set(index, page);
      const bit = number % numbersInPage;
      page[bit >>> 3] = (page[bit >>> 3] ?? 0) | (1 << (bit & 7));
    },
    has,
    nextUnseen(from: number): number {
      let number = from;
      while (has(number)) number += 1;
      return number;
    },
  };
}
