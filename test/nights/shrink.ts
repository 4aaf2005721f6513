import { type History, kindOf } from './history.js';
import { liveHistory } from './live-history.js';

/** The most attempts at a shorter history. */
const most = 60;

/** Leaves out what a history still fails without: events, then troubles, results and bookings. */
export async function shrink(history: History, faults: readonly string[]) {
  let found = { history, faults };
  let attempts = 0;
  for (let isShorter = true; isShorter; ) {
    isShorter = false;
    for (const shorter of listShorter(found.history)) {
      if (attempts >= most) return found;
      attempts += 1;
      // One that cannot be lived shows nothing of what went wrong.
      const lived = await liveHistory(shorter).then(
        (one) => one.faults,
        () => [],
      );
      if (lived.length === 0) continue;
      found = { history: shorter, faults: lived };
      isShorter = true;
      break;
    }
  }
  return found;
}

/** The largest cuts first. */
function* listShorter(history: History): Generator<History> {
  for (let size = Math.floor(history.length / 2); size >= 1; size = Math.floor(size / 2))
    for (let from = 0; from + size <= history.length; from += size)
      yield [...history.slice(0, from), ...history.slice(from + size)];
  for (const [index, event] of history.entries())
    for (const smaller of kindOf(event).listSmaller?.(event) ?? []) yield history.with(index, smaller);
}
