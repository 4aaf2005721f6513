import { expect } from 'vitest';
import { createSightings } from './kinds.js';
import { liveHistory } from './live-history.js';
import { makeHistories } from './make-histories.js';
import { tellHistory } from './tell.js';

/** Lives so many histories of a seed. One that fails is told, with the command that lives it again and shortens it. */
export async function expectHistories(seed: number, count: number) {
  const seen = createSightings();
  let number = 0;
  for (const history of makeHistories(seed)) {
    number += 1;
    if (number > count) break;
    const { faults, kinds } = await liveHistory(history);
    for (const [index, one] of kinds.entries()) seen.note(kinds[index - 1] ?? [], one);
    const again = `npm run nights -- --seed ${seed} --only ${number}`;
    expect(faults, [again, ...tellHistory(history)].join('\n')).toEqual([]);
  }
  return seen;
}
