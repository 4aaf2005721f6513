/** Numbers keys in the order in which they come, from 0, and keeps 64 bits of each. */
export interface KeyTable {
  readonly size: number;
  findOrAdd(key: readonly string[]): number;
  find(key: readonly string[]): number | undefined;
}

/** Sets the texts of a key apart: it stands in none of them, being a control character. */
const gap = 0x1f;

/**
 * Holds some 20 bytes a key in typed arrays. Keys of equal hash count as one: among a million of them that happens
 * once in ten million days or so.
 */
export function createKeyTable(): KeyTable {
  let high = new Uint32Array(2 ** 10);
  let low = new Uint32Array(2 ** 10);
  /** By hash: one more than the key's number, so that 0 means a free place. */
  let places = new Uint32Array(2 ** 11);
  let size = 0;

  /** Where the key with that hash stands, or where it would. */
  function findPlace(highHash: number, lowHash: number): number {
    const mask = places.length - 1;
    let place = lowHash & mask;
    for (let taken = places[place]; taken; taken = places[place]) {
      if (low[taken - 1] === lowHash && high[taken - 1] === highHash) return place;
      place = (place + 1) & mask;
    }
    return place;
  }

  function grow(): void {
    high = copyInto(new Uint32Array(2 * size), high);
    low = copyInto(new Uint32Array(2 * size), low);
    places = new Uint32Array(4 * size);
    for (let number = 0; number < size; number += 1)
      places[findPlace(high[number] ?? 0, low[number] ?? 0)] = number + 1;
  }

  return {
    get size() {
      return size;
    },
    find(key) {
      const hash = hashKey(key);
      const taken = places[findPlace(hash.high, hash.low)] ?? 0;
      return taken === 0 ? undefined : taken - 1;
    },
    findOrAdd(key) {
      const hash = hashKey(key);
      if (size === high.length) grow();
      const place = findPlace(hash.high, hash.low);
      const taken = places[place] ?? 0;
      if (taken !== 0) return taken - 1;
      high[size] = hash.high;
      low[size] = hash.low;
      size += 1;
      places[place] = size;
      return size - 1;
    },
  };
}

function copyInto(larger: Uint32Array<ArrayBuffer>, smaller: Uint32Array): Uint32Array<ArrayBuffer> {
  larger.set(smaller);
  return larger;
}

/** Two hashes of 32 bits, each over everything. */
function hashKey(key: readonly string[]): { readonly high: number; readonly low: number } {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (const text of key) {
    for (let index = 0; index < text.length; index += 1) {
      const unit = text.charCodeAt(index);
      high = Math.imul(high ^ unit, 2654435761);
      low = Math.imul(low ^ unit, 1597334677);
    }
    high = Math.imul(high ^ gap, 2654435761);
    low = Math.imul(low ^ gap, 1597334677);
  }
  return { high: scatter(high, low), low: scatter(low, high) };
}

/** Makes every bit of a hash depend on every bit of both. */
function scatter(hash: number, other: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 2246822507);
  mixed ^= Math.imul(other ^ (other >>> 13), 3266489909);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
