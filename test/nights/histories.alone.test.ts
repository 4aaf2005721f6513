import { expect, it } from 'vitest';
import { seed } from '../support/seed.js';
import { expectHistories } from './any-history.js';
import { kindOf, listEventKinds } from './history.js';
import { makeHistories } from './make-histories.js';

// In a file of its own, which a second core lives at the same time; by night there are many more.
it('every surface says what was sent and what came back, in any history', { timeout: 900_000 }, async () => {
  await expectHistories(seed, 30);
});

it('Histories plan every kind of thing that events name, and no other', () => {
  const planned = new Set<string>();
  const histories = makeHistories(seed);
  for (let count = 0; count < 400; count += 1)
    for (const event of histories.next().value ?? [])
      for (const kind of kindOf(event).kindsOf(event)) planned.add(kind);
  expect([...planned].sort()).toEqual([...new Set(listEventKinds.flatMap(({ kinds }) => kinds))].sort());
});
