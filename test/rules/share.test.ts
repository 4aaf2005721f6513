import { expect, it } from 'vitest';
import { formatShare, isMoreThanShare } from '../../src/rules/share.js';

it.each([
  [29, 100, 0.29, false],
  [30, 100, 0.29, true],
  [7, 100, 0.07, false],
  [1, 10, 0.1, false],
  [1, 9, 0.1, true],
  [0, 0, 0.1, false],
  [1, 1_000_000_000, 0, true],
])('%d of %d exceeds a share of %d: %s, in spite of binary rounding', (part, whole, share, isMore) => {
  expect(isMoreThanShare(part, whole, share)).toBe(isMore);
});

it('writes a share as a percentage without rounding noise', () => {
  expect([0.29, 0.07, 0.1, 0.125].map(formatShare)).toEqual(['29%', '7%', '10%', '12.5%']);
});
