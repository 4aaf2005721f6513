import { expect, it } from 'vitest';
import { onPostgres } from '../crash/postgres-engine.js';
import { seed } from '../support/seed.js';
import { usePostgres } from '../support/use-servers.js';
import { canRestore, liveHistory } from './live-history.js';
import { makeHistories } from './make-histories.js';
import { tellHistory } from './tell.js';

const histories = 100;
const engine = onPostgres(usePostgres());

it('every surface says what was sent and what came back, with the ledger in PostgreSQL', {
  timeout: 3_600_000,
}, async () => {
  let number = 0;
  for (const history of makeHistories(seed + 2)) {
    if (number === histories) return;
    // Its copies are those of a file.
    if (canRestore(history)) continue;
    number += 1;
    const { faults } = await liveHistory(history, { engine });
    expect(faults, [...tellHistory(history), ...faults].join('\n')).toEqual([]);
  }
});
