export interface LineIndex {
  /**
   * The position of an earlier line with the same hash; where there is none, this line is remembered. The line is what
   * stands in `bytes` from `start` up to `end`. Positions only rise.
   */
  findOrRemember(bytes: DataView, start: number, end: number, position: number): number | undefined;
  /** The same without remembering it. */
  find(bytes: DataView, start: number, end: number): number | undefined;
}

/** Lists, by 18 bits of a line's hash; 20 others, its tag, tell the lines of a list apart. */
const listCount = 2 ** 18;
/** With its link to an older one a block fills a cache line of 64 bytes: the link, 12 words, 12 bytes. */
const linesPerBlock = 12;
const wordsPerBlock = 16;
const blocksPerChunk = 2 ** 14;
/** What the 20 bits for it can say of how far a line stands behind the one before it in its list. */
const farthest = 2 ** 20 - 1;
/** The tag of an entry that is no line, and only bridges such a distance. */
const bridge = 0;

interface Chunk {
  readonly words: Uint32Array;
  /** The same memory. */
  readonly bytes: Uint8Array;
}

/**
 * Remembers lines by 38 bits of a hash and by their position, in little more than 5 bytes a line: a JavaScript Set
 * would hold twenty times as much and ends at 2^24 entries.
 *
 * The lines of one list stand in blocks, of which the newest links to the one before it. An entry has the line's tag and
 * its distance from the entry before it, so a list is read backwards. Nothing is ever moved: what was allocated for a
 * smaller table is not left behind as garbage, and memory grows with the day in a straight line.
 *
 * Equal hashes are only a hint: the caller compares the lines themselves before it drops one.
 */
export function createLineIndex(): LineIndex {
  /** Of each list: its newest block, counted from 1; how many entries that one has; and where its newest line stands. */
  const newestBlocks = new Uint32Array(listCount);
  const entryCounts = new Uint8Array(listCount);
  const newestPositions = new Uint32Array(listCount);
  const chunks: Chunk[] = [];
  let blocks = 0;

  function seek(list: number, tag: number): number | undefined {
    let position = newestPositions[list] ?? 0;
    let entry = entryCounts[list] ?? 0;
    let block = newestBlocks[list] ?? 0;
    while (block !== 0) {
      const { words, bytes } = chunkOf(block);
      const start = startOf(block);
      for (; entry > 0; entry -= 1) {
        const word = words[start + entry] ?? 0;
        if (word >>> 12 === tag) return position;
        position -= ((word & 0xfff) << 8) | (bytes[byteOf(start, entry)] ?? 0);
      }
      block = words[start] ?? 0;
      entry = linesPerBlock;
    }
    return undefined;
  }

  function remember(list: number, tag: number, position: number): void {
    // The first of a list has nothing before it.
    let distance = newestBlocks[list] === 0 ? 0 : position - (newestPositions[list] ?? 0);
    for (; distance > farthest; distance -= farthest) append(list, bridge, farthest);
    append(list, tag, distance);
    newestPositions[list] = position;
  }

  function append(list: number, tag: number, distance: number): void {
    let entry = (entryCounts[list] ?? 0) + 1;
    if (newestBlocks[list] === 0 || entry > linesPerBlock) {
      addBlock(list);
      entry = 1;
    }
    const block = newestBlocks[list] ?? 0;
    const { words, bytes } = chunkOf(block);
    const start = startOf(block);
    words[start + entry] = (tag << 12) | (distance >>> 8);
    bytes[byteOf(start, entry)] = distance & 0xff;
    entryCounts[list] = entry;
  }

  function addBlock(list: number): void {
    if (blocks % blocksPerChunk === 0) {
      const words = new Uint32Array(blocksPerChunk * wordsPerBlock);
      chunks.push({ words, bytes: new Uint8Array(words.buffer) });
    }
    blocks += 1;
    chunkOf(blocks).words[startOf(blocks)] = newestBlocks[list] ?? 0;
    newestBlocks[list] = blocks;
  }

  function chunkOf(block: number): Chunk {
    const chunk = chunks[Math.floor((block - 1) / blocksPerChunk)];
    if (!chunk) throw new RangeError(`expected a block up to ${blocks}, got: ${block}`);
    return chunk;
  }

  return {
    findOrRemember(bytes, start, end, position) {
      hash(bytes, start, end);
      const earlier = seek(hashedList, hashedTag);
      if (earlier === undefined) remember(hashedList, hashedTag, position);
      return earlier;
    },
    find(bytes, start, end) {
      hash(bytes, start, end);
      return seek(hashedList, hashedTag);
    },
  };
}

/** The word at which a block begins in its chunk. */
function startOf(block: number): number {
  return ((block - 1) % blocksPerChunk) * wordsPerBlock;
}

/** Behind the words of its block, the lowest 8 bits of an entry's distance. */
function byteOf(start: number, entry: number): number {
  return 4 * start + 4 * (linesPerBlock + 1) + entry - 1;
}

/** Where `hash` leaves its answer: an object for each line would cost more than the hash. */
let hashedList = 0;
let hashedTag = 0;

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
  // Each takes in the other half too: where all that tells lines apart stands in one of them, it tells them apart still.
  const mixed = mix(one, other);
  hashedList = mixed >>> 14;
  hashedTag = mix(other, mixed) >>> 12 || bridge + 1;
}

function mix(hash: number, units: number): number {
  const mixed = Math.imul(hash ^ units, 2654435761);
  return mixed ^ (mixed >>> 15);
}
