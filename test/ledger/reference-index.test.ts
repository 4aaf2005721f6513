import { describe, expect, it } from 'vitest';
import { hashReference } from '../../src/booking/reference-hash.js';
import { createReferenceIndex, findInPage } from '../../src/ledger/reference-index.js';

describe('the reference index', () => {
  it('written in parts, finds every booking once, on consecutively numbered pages', () => {
    const index = createReferenceIndex({ pageEntries: 4, segmentEntries: 10 });
    const written = [];
    let parts = 0;
    for (let position = 0; position < 105; position += 1) {
      index.add(hashReference(`BR-${position % 35}`), position);
      if (!index.isFull) continue;
      written.push(...keep(index.pages()));
      index.clear();
      parts += 1;
    }
    written.push(...keep(index.pages()));
    expect(parts).toBe(10);
    expect(written.map(({ page }) => page)).toEqual(written.map((_, place) => place));
    for (let number = 0; number < 35; number += 1) {
      const hash = hashReference(`BR-${number}`);
      const found = written
        .filter(({ firstHash, lastHash }) => firstHash <= hash && hash <= lastHash)
        .flatMap(({ entries }) => findInPage(entries, hash));
      expect(found.toSorted((one, other) => one - other)).toEqual([number, number + 35, number + 70]);
    }
  });

  it('returns the same pages again, for a write that must be repeated', () => {
    const index = createReferenceIndex({ pageEntries: 4, segmentEntries: 10 });
    for (let position = 0; position < 25; position += 1) index.add(hashReference(`BR-${position}`), position);
    const once = keep(index.pages());
    expect(keep(index.pages())).toEqual(once);
    expect(once).toHaveLength(7);
  });
});

/** Copies the pages: an index reuses their memory. */
function keep(pages: ReturnType<ReturnType<typeof createReferenceIndex>['pages']>) {
  return [...pages].map((page) => ({ ...page, entries: Buffer.from(page.entries) }));
}
