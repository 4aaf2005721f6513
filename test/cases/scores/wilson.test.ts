import { describe, expect, it } from 'vitest';
import { wilsonInterval } from '../../../src/cases/scores/scorecard.js';

describe('the interval of a share', () => {
  // From R: prop.test(hits, of, correct = FALSE)$conf.int
  it.each([
    [0, 10, 0, 0.2775],
    [2, 10, 0.0567, 0.5098],
    [10, 10, 0.7225, 1],
    [200, 1000, 0.1764, 0.2259],
    [1, 1_000_000, 0.00000018, 0.00000566],
  ])('of %d in %d is that of Wilson', (hits, of, low, high) => {
    const interval = wilsonInterval(hits, of);
    expect(interval?.low).toBeCloseTo(low, of > 1000 ? 8 : 4);
    expect(interval?.high).toBeCloseTo(high, of > 1000 ? 8 : 4);
  });

  it('is unknown without data', () => {
    expect(wilsonInterval(0, 0)).toBeUndefined();
  });
});
