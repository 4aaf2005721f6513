import { describe, expect, it } from 'vitest';
import { createPager } from '../../src/mappings/sync-mappings.js';

const row = (number: number) => ({
  ...{ ServiceId: number, ProviderHotelId: `h-${number}`, ProviderName: 'Bedlink' },
});
const page = (ResumeKey: string | null | undefined, ...numbers: readonly number[]) => ({
  ...(ResumeKey !== undefined && { ResumeKey }),
  Mappings: numbers.map(row),
  skipped: [],
});

/** The keys that follow these pages, each of which is asked for with the key before it. */
function follow(...pages: readonly ReturnType<typeof page>[]): (string | undefined)[] {
  const pager = createPager();
  const keys: (string | undefined)[] = [];
  for (const one of pages) keys.push(pager.next(one, keys.at(-1)));
  return keys;
}

describe('the pages of a retrieval', () => {
  it.each([undefined, null, '', ' \t'])('go on at their keys, and end where the key is %j', (last) => {
    expect(follow(page('a', 1, 2), page('b', 3, 4), page(last, 5, 6))).toEqual(['a', 'b', undefined]);
  });

  it('end at an empty one, even if it has a fresh key', () => {
    expect(follow(page('a', 1), page('b'))).toEqual(['a', undefined]);
  });

  it('go on after one whose mappings cannot be read', () => {
    const skipped = [{ reason: 'expected Mappings[0].ProviderName to be a string, got: null', record: {} }];
    expect(createPager().next({ ...page('a'), skipped }, undefined)).toBe('a');
  });

  it('may share a key as long as they differ', () => {
    expect(follow(page('a', 1), page('a', 2), page('a', 3))).toEqual(['a', 'a', 'a']);
  });

  it('are endless if the same one comes with the key that was sent, which the error does not quote', () => {
    const again = () => follow(page('stuck', 1), page('stuck', 1));
    expect(again).toThrow('the key that was sent, and the same page again');
    expect(again).not.toThrow(/stuck/);
  });

  it('are endless if ten in a row have fresh keys and nothing new', () => {
    const turns = (count: number) => Array.from({ length: count }, (_, at) => page(`key ${at}`, at % 2));
    expect(follow(...turns(11))).toHaveLength(11);
    const failure = () => follow(...turns(12));
    expect(failure).toThrow('10 pages in a row with a ResumeKey and nothing new');
  });
});
