/** Numbers keys in order of arrival, from 0, and keeps 64 bits of each. */
export interface KeyTable {
  readonly size: number;
  findOrAdd(key: KeyHash): number;
  find(key: KeyHash): number | undefined;
}

/** A slot holds the key's number plus one (0 marks a free slot) and the two halves of its hash. */
const slotWidth = 3;
const fewestSlots = 2 ** 11;

/**
 * A hash table in one typed array, about 30 bytes per key. A key's data is adjacent, because memory accesses dominate
 * the cost. Keys with equal hashes count as one, which for a million keys a day happens once in about ten million
 * days.
 */
export function createKeyTable(): KeyTable {
  let slots = new Uint32Array(slotWidth * fewestSlots);
  let mask = fewestSlots - 1;
  let size = 0;

  /** The offset of the slot with that hash, or of the free slot where it belongs. */
  function findSlot(high: number, low: number): number {
    for (let slot = low & mask; ; slot = (slot + 1) & mask) {
      const at = slotWidth * slot;
      if (slots[at] === 0 || (slots[at + 1] === low && slots[at + 2] === high)) return at;
    }
  }

  function fill(at: number, number: number, high: number, low: number): void {
    slots[at] = number + 1;
    slots[at + 1] = low;
    slots[at + 2] = high;
  }

  function grow(): void {
    const before = slots;
    slots = new Uint32Array(2 * before.length);
    mask = 2 * mask + 1;
    for (let from = 0; from < before.length; from += slotWidth) {
      const taken = before[from] ?? 0;
      const low = before[from + 1] ?? 0;
      const high = before[from + 2] ?? 0;
      if (taken !== 0) fill(findSlot(high, low), taken - 1, high, low);
    }
  }

  return {
    get size() {
      return size;
    },
    find({ high, low }) {
      const taken = slots[findSlot(high, low)] ?? 0;
      return taken === 0 ? undefined : taken - 1;
    },
    findOrAdd({ high, low }) {
      const at = findSlot(high, low);
      const taken = slots[at] ?? 0;
      if (taken !== 0) return taken - 1;
      fill(at, size, high, low);
      size += 1;
      // At most three quarters full, so that a free slot is near.
      if (4 * size > 3 * (mask + 1)) grow();
      return size - 1;
    },
  };
}

/** 64 bits of a key. */
export interface KeyHash {
  readonly high: number;
  readonly low: number;
}

/** Hashes the texts of one key after another. A text and its UTF-8 bytes have the same hash. */
export interface KeyHasher extends KeyHash {
  /** Starts a new key. */
  begin(): void;
  addText(text: string): void;
  /** Adds the text in `bytes` from `from` up to, but excluding, `to`. */
  addBytes(bytes: Uint8Array, from: number, to: number): void;
  /** The hash of a key of these texts, valid until the next one. */
  hash(...texts: readonly string[]): KeyHash;
}

/** Separates the texts of a key. As a control character it occurs in none of them. */
const gap = 0x1f;
const lastAscii = 0x7f;
const highFactor = 2654435761;
const lowFactor = 1597334677;

/** Two 32-bit hashes over all bytes. */
export function createKeyHasher(): KeyHasher {
  let high = 0;
  let low = 0;

  function addBytes(bytes: Uint8Array, from: number, to: number): void {
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
  }

  const hasher: KeyHasher = {
    get high() {
      return scatter(high, low);
    },
    get low() {
      return scatter(low, high);
    },
    begin() {
      high = 0xdeadbeef;
      low = 0x41c6ce57;
    },
    addBytes,
    hash(...texts) {
      hasher.begin();
      for (const text of texts) hasher.addText(text);
      return hasher;
    },
    addText(text) {
      let newHigh = high;
      let newLow = low;
      for (let at = 0; at < text.length; at += 1) {
        const unit = text.charCodeAt(at);
        if (unit > lastAscii) {
          const bytes = Buffer.from(text);
          addBytes(bytes, 0, bytes.length);
          return;
        }
        newHigh = Math.imul(newHigh ^ unit, highFactor);
        newLow = Math.imul(newLow ^ unit, lowFactor);
      }
      high = Math.imul(newHigh ^ gap, highFactor);
      low = Math.imul(newLow ^ gap, lowFactor);
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

/** Small numbers by index, initially 0; 4 bytes each. */
export interface Counters {
  get(position: number): number;
  set(position: number, value: number): void;
}

export function createCounters(): Counters {
  let values = new Uint32Array(2 ** 10);
  return {
    get: (position) => values[position] ?? 0,
    set(position, value) {
      if (position >= values.length) {
        const larger = new Uint32Array(2 * (position + 1));
        larger.set(values);
        values = larger;
      }
      values[position] = value;
    },
  };
}

/** Hashes by index. */
export function createHashes() {
  /** The two halves; both 0 if there is none. */
  const highOf = createCounters();
  const lowOf = createCounters();

  return {
    set(key: number, { high, low }: KeyHash): void {
      highOf.set(key, high);
      lowOf.set(key, low);
    },
    get(key: number): KeyHash | undefined {
      const high = highOf.get(key);
      const low = lowOf.get(key);
      return high === 0 && low === 0 ? undefined : { high, low };
    },
  };
}
