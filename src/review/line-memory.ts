export interface LineMemory {
  /**
   * The position of an earlier line with the same hash; where there is none, this line is remembered. The line is what
   * stands in `bytes` from `start` up to `end`.
   */
  findOrRemember(bytes: DataView, start: number, end: number, position: number): number | undefined;
}

/**
 * Remembers lines by a 64-bit hash and their position, 12 bytes a line in typed arrays: a JavaScript Set would hold
 * ten times as much and ends at 2^24 entries.
 *
 * Equal hashes are only a hint: the caller compares the lines themselves before it drops one.
 */
export function createLineMemory(): LineMemory {
  let capacity = 2 ** 16;
  let count = 0;
  let high = new Uint32Array(capacity);
  let low = new Uint32Array(capacity);
  // One more than the position, so that 0 means a free place.
  let positions = new Uint32Array(capacity);

  function grow(): void {
    const old = { high, low, positions };
    capacity *= 2;
    high = new Uint32Array(capacity);
    low = new Uint32Array(capacity);
    positions = new Uint32Array(capacity);
    old.positions.forEach((position, index) => {
      if (position !== 0) put(old.high[index] ?? 0, old.low[index] ?? 0, position);
    });
  }

  function put(highHash: number, lowHash: number, position: number): number | undefined {
    let place = lowHash & (capacity - 1);
    for (let taken = positions[place]; taken; taken = positions[place]) {
      if (low[place] === lowHash && high[place] === highHash) return taken - 1;
      place = (place + 1) & (capacity - 1);
    }
    high[place] = highHash;
    low[place] = lowHash;
    positions[place] = position;
    return undefined;
  }

  return {
    findOrRemember(bytes, start, end, position) {
      if (count * 10 > capacity * 7) grow();
      let first = 0xdeadbeef ^ (end - start);
      let second = 0x41c6ce57;
      let index = start;
      // Eight bytes a step, four for each half of the hash: this loop is what remembering a line costs.
      for (; index + 7 < end; index += 8) {
        first = mix(first, bytes.getInt32(index, true));
        second = mix(second, bytes.getInt32(index + 4, true));
      }
      for (; index < end; index += 1) first = mix(first, bytes.getUint8(index));
      const earlier = put(first >>> 0, second >>> 0, position + 1);
      if (earlier === undefined) count += 1;
      return earlier;
    },
  };
}

function mix(hash: number, units: number): number {
  const mixed = Math.imul(hash ^ units, 2654435761);
  return mixed ^ (mixed >>> 15);
}
