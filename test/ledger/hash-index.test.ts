import { describe, expect, it } from 'vitest';
import { hashReference, noReference } from '../../src/booking/booking.js';
import { createCollectedIndexes, createHashIndex, findInPage } from '../../src/ledger/stays.js';
import { numbers } from '../../src/ledger/table.js';

const hashesOf = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => hashReference(`BR-${(from + at) % 35}`));
const noDay = () => 0;

describe('the index of hashes', () => {
  it('written in parts, finds every booking once, on consecutively numbered pages, the same for a write that is repeated', () => {
    const index = createHashIndex(4, 10);
    const written = [];
    for (let first = 0; first < 105; first += 5) {
      index.add(hashesOf(first, first + 5), first, noDay);
      if (!index.isFull()) continue;
      const once = keep(index.pages());
      expect(keep(index.pages())).toEqual(once);
      written.push(...once);
      index.clear();
    }
    written.push(...keep(index.pages()));
    expect(written.at(-1)?.segment).toBe(10);
    expect(written.map(({ page }) => page)).toEqual(written.map((_, place) => place));
    // Those of a segment are sorted: a look-up reads one page of each.
    for (const [place, { segment, firstHash }] of written.entries())
      if (segment === written[place - 1]?.segment)
        expect(firstHash).toBeGreaterThanOrEqual(written[place - 1]?.lastHash ?? 0);
    for (let number = 0; number < 35; number += 1) {
      const hash = hashReference(`BR-${number}`);
      const found = written
        .filter(({ firstHash, lastHash }) => firstHash <= hash && hash <= lastHash)
        .flatMap(({ entries, firstPosition }) =>
          findInPage(entries, hash).map((word) => firstPosition + word),
        );
      expect(found.toSorted((one, other) => one - other)).toEqual([number, number + 35, number + 70]);
    }
  });

  it('is written while a day is collected: the entries in memory do not grow with it', () => {
    const chunk = 5_000;
    const index = createCollectedIndexes(224, { number: 1, day: '2026-11-20' });
    const hashes = Array.from({ length: chunk }, (_, place) => place + 1);
    const batch = { stream: 'file' as const, lines: Buffer.alloc(0), referenceHashes: hashes };
    const stays = { hotelHashes: hashes, lastDays: hashes };
    let most = 0;
    for (let number = 0; number < 400; number += 1) {
      for (const full of index.listFull()) full.clear();
      index.add([{ ...batch, number, stays }], chunk);
      most = Math.max(most, ...index.all.map(({ size }) => size()));
    }
    expect(most).toBeGreaterThan(100_000);
    expect(most).toBeLessThanOrEqual(2 ** 19 + chunk);
  });

  it('distinguishes a reference from none, even one whose hash would be 0', () => {
    // The last character completes the hash to 0: FNV-1a multiplies (hash XOR character).
    const prefix = Array.from({ length: 500_000 }, (_, number) => `BR-${number}`).find(
      (reference) => hashReference(reference) < 0x10000,
    );
    expect(prefix).toBeDefined();
    const reference = `${prefix}${String.fromCharCode(hashReference(prefix))}`;
    expect(hashReference(reference)).not.toBe(noReference);
  });
});

it('The rows of a batch of ten thousand are read as they were written', () => {
  const rows = [0, 255, 256, 9_999];
  expect(numbers.read(numbers.write(rows) as Buffer)).toEqual(rows);
});

/** Copies the pages: an index reuses their memory. */
function keep(pages: ReturnType<ReturnType<typeof createHashIndex>['pages']>) {
  return [...pages].map((page) => ({ ...page, entries: Buffer.from(page.entries) }));
}
