/**
 * Lets the event loop turn. What answers at once, as SQLite does, leaves it no turn: without this, a long loop holds up
 * requests and signals, and the memory that it frees outside V8's heap is not given back.
 *
 * @throws the signal's reason once it has aborted
 */
export async function giveWay(signal?: AbortSignal): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  signal?.throwIfAborted();
}
