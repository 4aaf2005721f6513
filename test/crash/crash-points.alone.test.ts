import { expect, it } from 'vitest';
import { describeDeaths } from './describe-deaths.js';
import { findFaultsOf, sampleDeaths } from './every-death.js';
import { liveDay } from './live.js';
import { byBody } from './scenarios.js';
import { newSqlite, sqlite } from './sqlite-engine.js';

// The nightly suite has every point.
describeDeaths(sqlite, { choose: sampleDeaths, pairs: 8 });

it('a day that dies while its ledger is created ends as if it had not', async () => {
  const undisturbed = await liveDay(newSqlite, byBody);
  const plans = (['before', 'after'] as const).map((mode) => [{ at: 1, mode, awayMs: 0, aheadMs: 0 }]);
  expect(await findFaultsOf(newSqlite, byBody, undisturbed, plans)).toEqual([]);
});
