/** 64 bits of a key. */
export interface KeyHash {
  readonly high: number;
  readonly low: number;
}

/** A slot holds the key's number plus one (0 marks a free slot) and the two halves of its hash. */
const slotWidth = 3;

export type KeyTable = ReturnType<typeof createKeyTable>;

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

export type NumberList = ReturnType<typeof createNumberList>;

/** Numbers by index, initially 0. */
export function createNumberList(List: Uint32ArrayConstructor | Float64ArrayConstructor = Uint32Array) {
  let values = new List(2 ** 10);

  const get = (index: number) => values[index] ?? 0;
  function set(index: number, value: number): void {
    if (index >= values.length) {
      const larger = new List(2 * (index + 1));
      larger.set(values);
      values = larger;
    }
    values[index] = value;
  }
  return { get, set, add: (index: number, more: number) => set(index, get(index) + more) };
}

export type HashList = ReturnType<typeof createHashList>;

/** Hashes by index. */
export function createHashList() {
  /** Both are 0 if there is none. */
  const [highs, lows] = [createNumberList(), createNumberList()];

  return {
    set(index: number, { high, low }: KeyHash): void {
      highs.set(index, high);
      lows.set(index, low);
    },
    get(index: number): KeyHash | undefined {
      const [high, low] = [highs.get(index), lows.get(index)];
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
