/** Rendered lines, each ended by a line feed. */
export interface LineBlock {
  readonly bytes: Buffer;
  /** The same bytes, for hashing. */
  readonly view: DataView;
  /** The offset of each line's line feed. */
  readonly ends: ArrayLike<number>;
}

export function blockOf(bytes: Buffer, ends: ArrayLike<number>): LineBlock {
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), ends };
}

/** Where a line begins. */
export function startOf({ ends }: LineBlock, index: number): number {
  return index === 0 ? 0 : (ends[index - 1] ?? 0) + 1;
}

/** The line, without its line feed. */
export function lineOf(block: LineBlock, index: number): Buffer {
  return block.bytes.subarray(startOf(block, index), block.ends[index]);
}

export type LineIndex = ReturnType<typeof createLineIndex>;

/**
 * The number of lists. 18 bits of a line's hash select the list, 20 more (the tag) identify the line in it.
 */
const listCount = 2 ** 18;
/** Memory for so many lists is taken when the first line needs one of them: most days are small. */
const listsPerPage = 2 ** 10;
/** A block fills a cache line of 64 bytes: a link to the previous block, 12 words, 12 bytes. */
const linesPerBlock = 12;
const wordsPerBlock = 16;
const blocksPerChunk = 2 ** 10;
/** The largest distance from the previous line of a list that fits into 20 bits. */
const farthest = 2 ** 20 - 1;
/** The tag of an entry that is not a line but only bridges a larger distance. */
const bridge = 0;

/**
 * An index of lines by 38 bits of their hash, in little more than 5 bytes per line. A JavaScript Set takes 20 times
 * as much and is limited to 2^24 entries.
 *
 * The lines of a list are stored in blocks, each linked to the previous one. An entry has the line's tag and its
 * distance from the previous entry, so lists are read backwards. Nothing is ever moved, so no outgrown table becomes
 * garbage and memory grows linearly with the day.
 *
 * Equal hashes are only a hint: the caller compares the lines before dropping one.
 */
export function createLineIndex() {
  const pages = new Array<ListPage | undefined>(listCount / listsPerPage).fill(undefined);
  /** Each with the same memory in words and in bytes. */
  const chunks: { readonly words: Uint32Array; readonly bytes: Uint8Array }[] = [];
  let blocks = 0;

  function seek(list: number, tag: number): number | undefined {
    const page = pages[Math.floor(list / listsPerPage)];
    if (!page) return undefined;
    const at = list % listsPerPage;
    let position = page.newestPositions[at] ?? 0;
    let entry = page.entryCounts[at] ?? 0;
    let block = page.newestBlocks[at] ?? 0;
    while (block !== 0) {
      const { words, bytes } = chunkOf(block);
      const start = firstWordOf(block);
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
    const number = Math.floor(list / listsPerPage);
    const page = pages[number] ?? createListPage();
    pages[number] = page;
    const at = list % listsPerPage;
    // The first line of a list has no predecessor.
    let distance = page.newestBlocks[at] === 0 ? 0 : position - (page.newestPositions[at] ?? 0);
    for (; distance > farthest; distance -= farthest) append(page, at, bridge, farthest);
    append(page, at, tag, distance);
    page.newestPositions[at] = position;
  }

  function append({ newestBlocks, entryCounts }: ListPage, at: number, tag: number, distance: number): void {
    let entry = (entryCounts[at] ?? 0) + 1;
    if (newestBlocks[at] === 0 || entry > linesPerBlock) {
      newestBlocks[at] = addBlock(newestBlocks[at] ?? 0);
      entry = 1;
    }
    const block = newestBlocks[at] ?? 0;
    const { words, bytes } = chunkOf(block);
    const start = firstWordOf(block);
    words[start + entry] = (tag << 12) | (distance >>> 8);
    bytes[byteOf(start, entry)] = distance & 0xff;
    entryCounts[at] = entry;
  }

  function addBlock(previous: number): number {
    if (blocks % blocksPerChunk === 0) {
      const words = new Uint32Array(blocksPerChunk * wordsPerBlock);
      chunks.push({ words, bytes: new Uint8Array(words.buffer) });
    }
    blocks += 1;
    chunkOf(blocks).words[firstWordOf(blocks)] = previous;
    return blocks;
  }

  function chunkOf(block: number) {
    const chunk = chunks[Math.floor((block - 1) / blocksPerChunk)];
    if (!chunk) throw new RangeError(`expected a block up to ${blocks}, got: ${block}`);
    return chunk;
  }

  return {
    /** The position of an earlier line with the same hash. If there is none, adds this line. Positions must increase. */
    findOrRemember(block: LineBlock, index: number, position: number): number | undefined {
      hash(block.view, startOf(block, index), block.ends[index] ?? 0);
      const earlier = seek(hashedList, hashedTag);
      if (earlier === undefined) remember(hashedList, hashedTag, position);
      return earlier;
    },
    /** The same without adding the line. */
    find(block: LineBlock, index: number): number | undefined {
      hash(block.view, startOf(block, index), block.ends[index] ?? 0);
      return seek(hashedList, hashedTag);
    },
  };
}

type ListPage = ReturnType<typeof createListPage>;

function createListPage() {
  return {
    /** For each list its newest block, counted from 1. */
    newestBlocks: new Uint32Array(listsPerPage),
    /** The number of entries in that block. */
    entryCounts: new Uint8Array(listsPerPage),
    /** The position of its newest line. */
    newestPositions: new Uint32Array(listsPerPage),
  };
}

/** The index of a block's first word in its chunk. */
function firstWordOf(block: number): number {
  return ((block - 1) % blocksPerChunk) * wordsPerBlock;
}

/** The byte after the block's words that holds the lowest 8 bits of an entry's distance. */
function byteOf(start: number, entry: number): number {
  return 4 * start + 4 * (linesPerBlock + 1) + entry - 1;
}

/** The result of `hash`. Returning an object per line would cost more than hashing. */
let hashedList = 0;
let hashedTag = 0;

function hash(bytes: DataView, start: number, end: number): void {
  let one = 0xdeadbeef ^ (end - start);
  let other = 0x41c6ce57;
  let index = start;
  // Eight bytes per iteration, four for each half of the hash. This loop dominates the cost.
  for (; index + 7 < end; index += 8) {
    one = mix(one, bytes.getInt32(index, true));
    other = mix(other, bytes.getInt32(index + 4, true));
  }
  for (; index < end; index += 1) one = mix(one, bytes.getUint8(index));
  // Each half also mixes in the other, so that lines that differ only in the bytes of one half differ in both.
  const mixed = mix(one, other);
  hashedList = mixed >>> 14;
  hashedTag = mix(other, mixed) >>> 12 || bridge + 1;
}

function mix(hash: number, units: number): number {
  const mixed = Math.imul(hash ^ units, 2654435761);
  return mixed ^ (mixed >>> 15);
}

/** Before each text, so that its hashes differ: which of the two hashes it is for, and which occurrence it is. */
const [hashAt, occurrenceAt, textAt] = [0, 4, 8];
const bytesPerUnit = 3;

/** The bytes of a text as the indexes hash them. Written once, although it is hashed several times in a row. */
function createScratch() {
  let written: string | undefined;
  let block = blockOf(Buffer.alloc(1_024), [0]);
  return (hash: 1 | 2, occurrence: number, text: string) => {
    if (text !== written) {
      const needed = textAt + bytesPerUnit * text.length;
      const bytes = needed > block.bytes.length ? Buffer.alloc(2 * needed) : block.bytes;
      block = blockOf(bytes, [textAt + bytes.write(text, textAt)]);
      written = text;
    }
    block.view.setUint32(hashAt, hash);
    block.view.setUint32(occurrenceAt, occurrence);
    return block;
  };
}

/**
 * Numbers occurrences of texts in the order in which they come. Millions take 5 MB and ten bytes each, a few hardly anything. Two hashes of
 * 38 bits agree by chance once in 10^23 pairs, so a text that is found counts without being compared.
 */
export function createOccurrenceIndex() {
  const [one, other] = [createLineIndex(), createLineIndex()];
  const write = createScratch();
  /** What shares one of the two hashes with something else: hardly ever anything. */
  const collided = new Map<string, number>();
  let size = 0;

  function add(text: string, occurrence: number): undefined {
    const isFree = other.findOrRemember(write(2, occurrence, text), 0, size) === undefined;
    if (!isFree) collided.set(`${occurrence} ${text}`, size);
    size += 1;
  }

  return {
    get size(): number {
      return size;
    },
    find(text: string, occurrence = 1): number | undefined {
      const position = one.find(write(1, occurrence, text), 0);
      if (position !== undefined && position === other.find(write(2, occurrence, text), 0)) return position;
      return collided.size === 0 ? undefined : collided.get(`${occurrence} ${text}`);
    },
    /** Adds what is not there. @returns its number if it is */
    findOrAdd(text: string, occurrence = 1): number | undefined {
      const position = one.findOrRemember(write(1, occurrence, text), 0, size);
      if (position === undefined) return add(text, occurrence);
      if (position === other.find(write(2, occurrence, text), 0)) return position;
      const name = `${occurrence} ${text}`;
      const known = collided.get(name);
      if (known !== undefined) return known;
      collided.set(name, size);
      size += 1;
      return undefined;
    },
  };
}

/** Counts how often each key occurs. */
export function createKeyCounter() {
  const index = createOccurrenceIndex();

  /** Occurrences are numbered without gaps, so the last one is found by halving. */
  function count(key: string): number {
    let beyond = 2;
    while (index.find(key, beyond) !== undefined) beyond *= 2;
    let last = beyond / 2;
    while (beyond - last > 1) {
      const middle = (last + beyond) >> 1;
      if (index.find(key, middle) === undefined) beyond = middle;
      else last = middle;
    }
    return last;
  }

  return {
    /** Returns which occurrence this is, counted from 1. */
    add(key: string): number {
      if (index.findOrAdd(key) === undefined) return 1;
      const occurrence = count(key) + 1;
      index.findOrAdd(key, occurrence);
      return occurrence;
    },
  };
}

export type KeyCounter = ReturnType<typeof createKeyCounter>;
