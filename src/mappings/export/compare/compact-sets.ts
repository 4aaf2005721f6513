import type { ExportedMapping } from './read-mapping-file.js';

/** 32 MB of bits, of which those that are never set take no memory. */
const bits = 2 ** 28;
const bitsForEach = 3;

interface LastRow {
  readonly row: number;
  readonly serviceId: number | undefined;
}

/**
 * Finds the provider hotels that stand on several rows of a file of any length, in memory that does not grow with it: all
 * of them, and by chance a few others, which do no harm.
 */
export function createRepeatedHotels() {
  const seen = new Uint32Array(bits / 32);
  const lastRows = new Map<string, LastRow>();

  /** Answers whether it was seen before, perhaps. */
  function see(key: string): boolean {
    const [first, step] = hash(key);
    let wasSeen = true;
    for (let index = 0; index < bitsForEach; index += 1) {
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
    /** To be called for each row of the file, in their order, before anything is asked. */
    add(mapping: ExportedMapping): void {
      const key = keyOf(mapping);
      const { row, serviceId } = mapping;
      if (see(key)) lastRows.set(key, { row, serviceId });
    },
    /** The row of the same hotel that stands further down and therefore counts; undefined where this one does. */
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

/** Two numbers of 32 bits, the second one odd. (FNV-1a, and a variant of it.) */
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
  /** The first one that was not added, from that number on. */
  nextUnseen(from: number): number;
}

/** Remembers numbers, a bit for each, in memory that is taken where there are some. */
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
