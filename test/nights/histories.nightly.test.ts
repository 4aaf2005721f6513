import { describe, expect, it } from 'vitest';
import { seed } from '../support/seed.js';
import { expectHistories } from './any-history.js';
import { allKinds } from './history.js';

describe('every surface says what was sent and what came back', () => {
  it('in any history', { timeout: 3_600_000 }, async () => {
    const kinds = await expectHistories(seed, 400);
    // What never happened tests nothing.
    expect([...kinds].sort()).toEqual([...allKinds].sort());
  });
});
