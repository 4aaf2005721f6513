/**
 * Lets the event loop turn. Calls that answer synchronously, like SQLite's, never do: without this, a long loop holds up
 * requests and signals, and memory outside V8's heap is not freed.
 *
 * @throws the signal's reason once it has aborted
 */
export async function giveWay(signal?: AbortSignal): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  signal?.throwIfAborted();
}

const turnMs = 10;
const itemsPerLook = 64;

/**
 * Does some work for each item of a long list, and lets the event loop turn every few milliseconds.
 *
 * @throws the signal's reason once it has aborted
 */
export async function forEachGivingWay<Item>(
  items: Iterable<Item>,
  signal: AbortSignal | undefined,
  work: (item: Item) => void,
): Promise<void> {
  let done = 0;
  let turnEnds = performance.now() + turnMs;
  for (const item of items) {
    work(item);
    done += 1;
    if (done % itemsPerLook !== 0 || performance.now() < turnEnds) continue;
    await giveWay(signal);
    turnEnds = performance.now() + turnMs;
  }
}
