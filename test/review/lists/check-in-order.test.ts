import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ChangedListError, orderByKey } from '../../../src/review/lists/listing.js';
import { countTurns } from '../../support/turns.js';

interface Item {
  readonly key: string;
  readonly place: number;
}

const items = fc
  .array(fc.constantFrom('', '2026-12-01', '2026-12-02', '2027-01-01'), { maxLength: 40 })
  .map((keys) => keys.map((key, place): Item => ({ key, place })));

function scanOf(all: readonly Item[], chunk: number) {
  return async function* () {
    for (let from = 0; from < all.length; from += chunk) yield all.slice(from, from + chunk);
  };
}

async function gather<One>(chunks: AsyncIterable<readonly One[]>): Promise<(readonly One[])[]> {
  const all: (readonly One[])[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return all;
}

const copy = (item: Item) => item;

function sort(all: readonly Item[]): readonly Item[] {
  return all.toSorted((a, b) => (a.key === b.key ? 0 : a.key < b.key ? -1 : 1));
}

describe('Items ordered by a key', () => {
  it('come in the order of a stable sort, however few are held at once, however often they are read', async () => {
    await fc.assert(
      fc.asyncProperty(items, fc.integer({ min: 1, max: 9 }), fc.nat(50), async (all, chunk, more) => {
        const ordered = await orderByKey(scanOf(all, chunk), copy, more + 1);
        expect(ordered.count).toBe(all.length);
        for (let time = 0; time < 2; time += 1) {
          const chunks = await gather(ordered.read());
          expect(chunks.flat()).toEqual(sort(all));
          expect(Math.max(0, ...chunks.map(({ length }) => length))).toBeLessThanOrEqual(more + 1);
        }
      }),
    );
  });

  it('come from the requested window only, and only these are held', async () => {
    const from = fc.nat(45);
    await fc.assert(
      fc.asyncProperty(items, from, fc.nat(20), fc.nat(50), async (all, first, wanted, more) => {
        const held: Item[] = [];
        const hold = (item: Item) => {
          held.push(item);
          return item;
        };
        const ordered = await orderByKey(scanOf(all, 3), hold, more + 1);
        const heldBefore = held.length;
        const window = { from: first, to: first + wanted };
        const expected = sort(all).slice(window.from, window.to);
        expect((await gather(ordered.read(window))).flat()).toEqual(expected);
        expect(held.length - heldBefore).toBe(all.length <= more + 1 ? 0 : expected.length);
      }),
    );
  });

  it('let the event loop turn after each chunk, although a ledger may answer at once', async () => {
    const all = [...'abcabcabc'].map((key, place): Item => ({ key, place }));
    const turns = countTurns();
    const ordered = await orderByKey(scanOf(all, 1), copy, 8);
    const counting = turns.take();
    await gather(ordered.read({ from: 0, to: 1 }));
    turns.stop();
    expect([counting, turns.take()].every((counted) => counted >= all.length)).toBe(true);
  });

  it.each([
    ['one more', [...'abab', 'a']],
    ['other keys', [...'aabb', 'c']],
  ])('are a failure, not a wrong list, if another pass finds %s', async (_, later) => {
    let passes = 0;
    const toItems = (keys: readonly string[]) => keys.map((key, place) => ({ key, place }));
    const scan = async function* () {
      passes += 1;
      yield toItems(passes === 1 ? [...'abab'] : later);
    };
    const ordered = await orderByKey(scan, copy, 3);
    await expect(gather(ordered.read())).rejects.toThrow(ChangedListError);
  });
});
