import type { KeyHash } from './key-hash.js';

/** Numbers keys in the order in which they come, from 0, and keeps 64 bits of each. */
export interface KeyTable {
  readonly size: number;
  findOrAdd(key: KeyHash): number;
  find(key: KeyHash): number | undefined;
}

/** One more than the key's number, so that 0 means a free slot, and the two halves of its hash. */
const slotWidth = 3;
const fewestSlots = 2 ** 11;

/**
 * Holds some 30 bytes a key in one typed array, all of a key in one place, for what costs time is each place in memory
 * that is looked at. Keys of equal hash count as one: among a million of them that happens once in ten million days or
 * so.
 */
export function createKeyTable(): KeyTable {
  let slots = new Uint32Array(slotWidth * fewestSlots);
  let mask = fewestSlots - 1;
  let size = 0;

  /** Where the slot of the key with that hash begins, or that of the free one where it would stand. */
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
      // Three quarters full, so that a free slot is never far.
      if (4 * size > 3 * (mask + 1)) grow();
      return size - 1;
    },
  };
}
