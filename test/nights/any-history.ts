import { expect } from 'vitest';
import { liveHistories } from './live-history.js';
import { tellHistory } from './tell.js';

/**
 * Lives so many histories of a seed. One that fails is told, with the command that lives it again and shortens it.
 *
 * @returns the kinds of things that have come about, and the events that have followed each other
 */
export async function expectHistories(seed: number, count: number) {
  let met: { readonly kinds: readonly string[]; readonly pairs: readonly string[] } = {
    kinds: [],
    pairs: [],
  };
  for await (const { number, history, faults, ...one } of liveHistories(seed, { last: count })) {
    const again = `npm run nights -- --seed ${seed} --only ${number}`;
    expect(faults, [again, ...tellHistory(history), ...faults].join('\n')).toEqual([]);
    met = { kinds: [...one.seen.kinds.keys()], pairs: [...one.met.pairs.keys()] };
  }
  return met;
}
