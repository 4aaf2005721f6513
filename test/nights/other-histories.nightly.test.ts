import { it } from 'vitest';
import { seed } from '../support/seed.js';
import { expectHistories } from './any-history.js';

// In a file of its own, which a second core lives at the same time.
it('every surface says what was sent and what came back, in any history of another seed', {
  timeout: 3_600_000,
}, async () => {
  await expectHistories(seed + 1, 100);
});
