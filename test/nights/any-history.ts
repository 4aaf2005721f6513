import { expect } from 'vitest';
import { liveHistories } from './live-history.js';
import { tellHistory } from './tell.js';

/**
 * Lives so many histories of a seed. One that fails is told, with the command that lives it again and shortens it.
 *
 * @returns the kinds of things that have come about
 */
export async function expectHistories(seed: number, count: number): Promise<readonly string[]> {
  let kinds: readonly string[] = [];
  for await (const { number, history, faults, seen } of liveHistories(seed, { last: count })) {
    const again = `npm run nights -- --seed ${seed} --only ${number}`;
    expect(faults, [again, ...tellHistory(history), ...faults].join('\n')).toEqual([]);
    kinds = [...seen.kinds.keys()];
  }
  return kinds;
}
