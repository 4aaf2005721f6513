import { SafeError } from '../../text/safe-error.js';

/** As many as are held at once; more are read in several passes. */
const usualWindow = 40_000;

/** Given all keys, returns how two of them compare. */
type CompareKeys = (keys: Iterable<string>) => (a: string, b: string) => number;

/** Items in an order, without holding all of them. */
export interface Ordered<Item> {
  readonly count: number;
  /** In order, one window at a time; can be read more than once. */
  read(): AsyncIterable<readonly Item[]>;
}

/**
 * Orders any number of items in constant memory (but for the different keys) by a key such as a day. The first pass counts the items of
 * each key, so that a later one knows the rank of every item it meets and keeps those of its window only. Items with the same
 * key stay in their order.
 *
 * @param scan reads the items in chunks, in the same order on each call
 * @param copy frees an item that is held from the chunk it came in
 * @param compareKeys compares keys that are among these; by default as texts
 */
export async function orderByKey<Item extends { readonly key: string }>(
  scan: () => AsyncIterable<readonly Item[]>,
  copy: (item: Item) => Item,
  {
    window = usualWindow,
    compareKeys = () => compare,
  }: { readonly window?: number; readonly compareKeys?: CompareKeys | undefined } = {},
): Promise<Ordered<Item>> {
  const counts = new Map<string, number>();
  let count = 0;
  /** All items, as long as they fit into one window. */
  let held: Item[] = [];
  for await (const items of scan()) {
    for (const { key } of items) counts.set(key, (counts.get(key) ?? 0) + 1);
    count += items.length;
    if (count > window) held = [];
    else for (const item of items) held.push(copy(item));
  }
  const starts = new Map<string, number>();
  let start = 0;
  const compareTwo = compareKeys(counts.keys());
  for (const key of [...counts.keys()].sort(compareTwo)) {
    starts.set(key, start);
    start += counts.get(key) ?? 0;
  }

  async function readWindow(from: number): Promise<Item[]> {
    const ranks = new Map(starts);
    const found: Item[] = [];
    let seen = 0;
    for await (const items of scan()) {
      seen += items.length;
      for (const item of items) {
        const rank = ranks.get(item.key);
        if (rank === undefined) throw new ChangedListError();
        ranks.set(item.key, rank + 1);
        if (rank >= from && rank < from + window) found.push(copy(item));
      }
    }
    if (seen !== count || found.length !== Math.min(window, count - from)) throw new ChangedListError();
    return found;
  }

  return {
    count,
    async *read() {
      // The sort is stable.
      if (count <= window) yield held.sort((a, b) => compareTwo(a.key, b.key));
      else
        for (let from = 0; from < count; from += window)
          yield (await readWindow(from)).sort((a, b) => compareTwo(a.key, b.key));
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
