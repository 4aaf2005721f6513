import { yieldToEventLoop } from '../../base/event-loop.js';
import { SafeError } from '../../base/safe-error.js';

/** More items are read in several passes. */
const usuallyAtOnce = 40_000;

/** Positions in a list: from the first one that is wanted to the one after the last. */
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

/** The items as they come: in chunks, and in the same order on each call. */
type Scan<Item> = () => AsyncIterable<readonly Item[]>;

interface Keyed {
  readonly key: string;
}

/**
 * Orders any number of items in constant memory (but for the different keys) by a key such as a day. The first pass counts the items of
 * each key, so that a later one knows the rank of every item it meets and keeps those of its window only. Items with the same
 * key stay in their order.
 *
 * @param copy frees an item that is held from the chunk it came in
 * @param atOnce the most items held at once
 */
export async function orderByKey<Item extends Keyed>(
  scan: Scan<Item>,
  copy: (item: Item) => Item,
  atOnce = usuallyAtOnce,
): Promise<Ordered<Item>> {
  const { count, counts, held } = await countItems(scan, copy, atOnce);
  const few = held?.sort(compareKeys);
  const starts = rankKeys(counts);

  async function readWindow(window: ListWindow): Promise<Item[]> {
    const { seen, found } = await pickWindow(scan, copy, starts, window);
    if (seen !== count || found.length !== window.to - window.from) throw new ChangedListError();
    return found.sort(compareKeys);
  }

  return {
    count,
    async *read(window = { from: 0, to: count }) {
      const to = Math.min(window.to, count);
      if (few) yield few.slice(window.from, to);
      else
        for (let { from } = window; from < to; from += atOnce)
          yield readWindow({ from, to: Math.min(from + atOnce, to) });
    },
  };
}

/** Counts the items of each key, and holds all items as long as they are few. */
async function countItems<Item extends Keyed>(scan: Scan<Item>, copy: (item: Item) => Item, atOnce: number) {
  const counts = new Map<string, number>();
  let count = 0;
  let held: Item[] | undefined = [];
  for await (const items of scan()) {
    for (const { key } of items) counts.set(key, (counts.get(key) ?? 0) + 1);
    count += items.length;
    if (count > atOnce) held = undefined;
    for (const item of items) held?.push(copy(item));
    await yieldToEventLoop();
  }
  return { count, counts, held };
}

/** The rank of the first item of each key. */
function rankKeys(counts: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const starts = new Map<string, number>();
  let start = 0;
  for (const key of [...counts.keys()].sort()) {
    starts.set(key, start);
    start += counts.get(key) ?? 0;
  }
  return starts;
}

/** Reads all items again, and keeps those whose rank is in the window. */
async function pickWindow<Item extends Keyed>(
  scan: Scan<Item>,
  copy: (item: Item) => Item,
  starts: ReadonlyMap<string, number>,
  { from, to }: ListWindow,
) {
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
    await yieldToEventLoop();
  }
  return { seen, found };
}

/** For a stable sort. */
function compareKeys({ key: a }: Keyed, { key: b }: Keyed): number {
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
