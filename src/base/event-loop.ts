/**
 * Lets the event loop turn. Calls that answer synchronously, like SQLite's, never do: without this, a long loop holds up
 * requests and signals, and memory outside V8's heap is not freed.
 *
 * @throws the signal's reason once it has aborted
 */
export async function yieldToEventLoop(signal?: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(continueNext);
  });
  signal?.throwIfAborted();
}

/** Who has yielded. One continues in each turn: otherwise requests would wait for a piece of the work of all. */
const waiting: (() => void)[] = [];

function continueNext(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(continueNext);
}

const turnMs = 10;
const itemsPerLook = 64;
let turnEnds = 0;

/** The same for work in small pieces: only once this turn has lasted a few milliseconds, whoever worked in it. */
export async function yieldIfDue(signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  if (performance.now() < turnEnds) return;
  await yieldToEventLoop(signal);
  turnEnds = performance.now() + turnMs;
}

/**
 * Does some work for each item of a long list, and lets the event loop turn every few milliseconds.
 *
 * @throws the signal's reason once it has aborted
 */
export async function forEachYielding<Item>(
  items: Iterable<Item>,
  signal: AbortSignal | undefined,
  work: (item: Item) => void,
): Promise<void> {
  let done = 0;
  for (const item of items) {
    work(item);
    done += 1;
    if (done % itemsPerLook === 0) await yieldIfDue(signal);
  }
}
