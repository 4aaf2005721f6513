import { expect, it } from 'vitest';
import { seed } from '../support/seed.js';
import { expectHistories } from './any-history.js';
import { allKinds } from './history.js';

it('every surface says what was sent and what came back, in any history', {
  timeout: 1_800_000,
}, async () => {
  const kinds = await expectHistories(seed, 1_500);
  // What never happened tests nothing.
  expect([...kinds].sort()).toEqual([...allKinds].sort());
});
