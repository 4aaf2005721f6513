import { expect, it } from 'vitest';
import { formatShare, isMoreThanShare } from '../../src/review/share.js';

it.each([
  [29, 100, 0.29, false],
  [30, 100, 0.29, true],
  [7, 100, 0.07, false],
  [1, 10, 0.1, false],
  [1, 9, 0.1, true],
  [0, 0, 0.1, false],
  [1, 1_000_000_000, 0, true],
])(
  '%d of %d against a share of %d: more is %s, whatever binary fractions make of it',
  (part, whole, share, isMore) => {
    expect(isMoreThanShare(part, whole, share)).toBe(isMore);
  },
);

it('A share is written as a percentage without the dust of binary fractions', () => {
  expect([0.29, 0.07, 0.1, 0.125].map(formatShare)).toEqual(['29 %', '7 %', '10 %', '12.5 %']);
});
