export const bytesPerEntry = 8;

export interface HashPage {
  readonly page: number;
  readonly firstHash: number;
  readonly lastHash: number;
  readonly entries: Buffer;
}

/** How a database stores such an index. */
export interface HashIndexOptions {
  readonly pageEntries: number;
  readonly segmentEntries?: number;
}

/**
 * Finds the bookings of a reference or a hotel without a database index that would have to be maintained while a day is
 * loaded.
 *
 * Each entry is a 64-bit number: the hash in the high bits, a word with the booking's position in the low bits. Entries are
 * collected in memory; whenever there are enough, they are sorted and written as pages, so that a larger day needs no more
 * memory. A hit is only a candidate: the line itself must be checked.
 *
 * @param pageEntries entries per page: a look-up reads one page of each segment, or all that contain the same hash
 * @param segmentEntries entries that are sorted together
 */
export function createHashIndex({ pageEntries, segmentEntries = 2 ** 19 }: HashIndexOptions) {
  let entries = new Uint32Array(2 * 65_536);
  let count = 0;
  let firstPage = 0;

  return {
    /** @param hash 0 for a booking without a key to find it by: it is not indexed */
    add(hash: number, word: number): void {
      if (hash === 0) return;
      if (2 * count === entries.length) {
        const larger = new Uint32Array(2 * entries.length);
        larger.set(entries);
        entries = larger;
      }
      entries[2 * count] = word;
      entries[2 * count + 1] = hash;
      count += 1;
    },

    /** Whether the pages should be written now and the index cleared. */
    get isFull(): boolean {
      return count >= segmentEntries;
    },

    /** Sorts the entries and splits them into pages; repeated calls return the same pages. */
    *pages(): Generator<HashPage> {
      const sorted = new BigUint64Array(entries.buffer, 0, count).sort();
      for (let start = 0; start < count; start += pageEntries) {
        const page = sorted.subarray(start, start + pageEntries);
        yield {
          page: firstPage + start / pageEntries,
          firstHash: hashOf(page[0]),
          lastHash: hashOf(page[page.length - 1]),
          entries: Buffer.from(page.buffer, page.byteOffset, page.byteLength),
        };
      }
    },

    /** Removes all entries, once their pages are written. */
    clear(): void {
      firstPage += Math.ceil(count / pageEntries);
      count = 0;
    },
  };
}

export type HashIndex = ReturnType<typeof createHashIndex>;

/** The words of that hash in a page, in the page's order. */
export function findInPage(page: Buffer, hash: number): number[] {
  const words: number[] = [];
  for (
    let at = firstEntryOf(page, hash);
    at < page.length && page.readUInt32LE(at + 4) === hash;
    at += bytesPerEntry
  ) {
    words.push(page.readUInt32LE(at));
  }
  return words;
}

function firstEntryOf(page: Buffer, hash: number): number {
  let low = 0;
  let high = page.length / bytesPerEntry;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (page.readUInt32LE(middle * bytesPerEntry + 4) < hash) low = middle + 1;
    else high = middle;
  }
  return low * bytesPerEntry;
}

function hashOf(entry: bigint | undefined): number {
  return Number((entry ?? 0n) >> 32n);
}
