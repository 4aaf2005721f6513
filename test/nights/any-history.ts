import { createSightings } from './kinds.js';
import { liveHistory } from './live-history.js';
import { makeHistories } from './make-histories.js';

/** Lives so many histories of that seed. */
export async function liveHistories(seed: number, count: number) {
  const seen = createSightings();
  const found: { readonly number: number; readonly faults: readonly string[] }[] = [];
  let [number, days] = [0, 0];
  for (const history of makeHistories(seed)) {
    number += 1;
    if (number > count) break;
    days += new Set(history.map(({ day }) => day)).size;
    const { faults, kinds } = await liveHistory(history);
    for (const [index, one] of kinds.entries()) seen.note(kinds[index - 1] ?? [], one);
    if (faults.length > 0) found.push({ number, faults });
  }
  return { seen, found, days };
}
