import { giveWay } from '../../async/give-way.js';
import { SafeError } from '../../text/safe-error.js';

/** More items are read in several passes. */
const usuallyAtOnce = 40_000;

/** Places in a list: from the first one that is wanted to the one after the last. */
export interface ListWindow {
  readonly from: number;
  readonly to: number;
}

/** Items in an order, without holding all of them. */
export interface Ordered<Item> {
  readonly count: number;
  /** In order, in chunks; can be read more than once. Items outside the window are not held. */
  read(window?: ListWindow): AsyncIterable<readonly Item[]>;
}

/**
 * Orders any number of items in constant memory (but for the different keys) by a key such as a day. The first pass counts the items of
 * each key, so that a later one knows the rank of every item it meets and keeps those of its window only. Items with the same
 * key stay in their order.
 *
 * @param scan reads the items in chunks, in the same order on each call
 * @param copy frees an item that is held from the chunk it came in
 * @param atOnce the most items held at once
 */
export async function orderByKey<Item extends { readonly key: string }>(
  scan: () => AsyncIterable<readonly Item[]>,
  copy: (item: Item) => Item,
  atOnce = usuallyAtOnce,
): Promise<Ordered<Item>> {
  const counts = new Map<string, number>();
  let count = 0;
  /** All items, as long as they are few. */
  let held: Item[] = [];
  for await (const items of scan()) {
    for (const { key } of items) counts.set(key, (counts.get(key) ?? 0) + 1);
    count += items.length;
    if (count > atOnce) held = [];
    else for (const item of items) held.push(copy(item));
    await giveWay();
  }
  const starts = new Map<string, number>();
  let start = 0;
  for (const key of [...counts.keys()].sort()) {
    starts.set(key, start);
    start += counts.get(key) ?? 0;
  }

  async function readWindow({ from, to }: ListWindow): Promise<Item[]> {
    const ranks = new Map(starts);
    const found: Item[] = [];
    let seen = 0;
    for await (const items of scan()) {
      seen += items.length;
      for (const item of items) {
        const rank = ranks.get(item.key);
        if (rank === undefined) throw new ChangedListError();
        ranks.set(item.key, rank + 1);
        if (rank >= from && rank < to) found.push(copy(item));
      }
      await giveWay();
    }
    if (seen !== count || found.length !== to - from) throw new ChangedListError();
    return found;
  }

  return {
    count,
    async *read(window = { from: 0, to: count }) {
      // The sort is stable.
      const inOrder = (items: Item[]) => items.sort((a, b) => compare(a.key, b.key));
      const to = Math.min(window.to, count);
      if (count <= atOnce) yield inOrder(held).slice(window.from, to);
      else
        for (let { from } = window; from < to; from += atOnce)
          yield inOrder(await readWindow({ from, to: Math.min(from + atOnce, to) }));
    },
  };
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Another process recorded a result between two passes. */
export class ChangedListError extends SafeError {
  override readonly name = 'ChangedListError';
  constructor() {
    super('the list changed while it was read, because a result was recorded: run the command again');
  }
}
