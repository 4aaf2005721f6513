export interface LineMemory {
  /**
   * The position of an earlier line with the same hash; where there is none, this line is remembered. The line is what
   * stands in `bytes` from `start` up to `end`.
   */
  findOrRemember(bytes: DataView, start: number, end: number, position: number): number | undefined;
  /** The same without remembering it. */
  find(bytes: DataView, start: number, end: number): number | undefined;
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

  /** Where that hash stands, or would. */
  function seek(highHash: number, lowHash: number): number {
    let place = lowHash & (capacity - 1);
    while (positions[place] && (low[place] !== lowHash || high[place] !== highHash))
      place = (place + 1) & (capacity - 1);
    return place;
  }

  function put(highHash: number, lowHash: number, position: number): number | undefined {
    const place = seek(highHash, lowHash);
    const taken = positions[place];
    if (taken) return taken - 1;
    high[place] = highHash;
    low[place] = lowHash;
    positions[place] = position;
    return undefined;
  }

  /** Leaves the hash of a line in these two. */
  let first = 0;
  let second = 0;
  function hash(bytes: DataView, start: number, end: number): void {
    let one = 0xdeadbeef ^ (end - start);
    let other = 0x41c6ce57;
    let index = start;
    // Eight bytes a step, four for each half of the hash: this loop is what remembering a line costs.
    for (; index + 7 < end; index += 8) {
      one = mix(one, bytes.getInt32(index, true));
      other = mix(other, bytes.getInt32(index + 4, true));
    }
    for (; index < end; index += 1) one = mix(one, bytes.getUint8(index));
    first = one >>> 0;
    second = other >>> 0;
  }

  return {
    findOrRemember(bytes, start, end, position) {
      if (count * 10 > capacity * 7) grow();
      hash(bytes, start, end);
      const earlier = put(first, second, position + 1);
      if (earlier === undefined) count += 1;
      return earlier;
    },
    find(bytes, start, end) {
      hash(bytes, start, end);
      const taken = positions[seek(first, second)];
      return taken ? taken - 1 : undefined;
    },
  };
}

function mix(hash: number, units: number): number {
  const mixed = Math.imul(hash ^ units, 2654435761);
  return mixed ^ (mixed >>> 15);
}
