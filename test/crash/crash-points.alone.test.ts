import { beforeAll, describe, expect, it } from 'vitest';
import { seededRandom } from '../support/seed.js';
import { findFaultsOf, sampleDeaths, samplePairs } from './every-death.js';
import { type Lived, liveDay } from './live.js';
import { byBody, byFile } from './scenarios.js';
import { newSqlite, sqlite } from './sqlite-engine.js';
import { expectUndisturbed } from './undisturbed.js';

const pairs = 8;

/** The nightly suite has every point. */
describe.each([byBody, byFile])('a day $name', (scenario) => {
  let undisturbed: Lived;
  beforeAll(async () => {
    undisturbed = await liveDay(sqlite, scenario);
  });

  it('passes the same points each time', async () => {
    expectUndisturbed(scenario, undisturbed);
    expect((await liveDay(sqlite, scenario)).points).toEqual(undisturbed.points);
  });

  it('that dies at any kind of point ends as if it had not', async () => {
    const plans = sampleDeaths(undisturbed, seededRandom()).map((death) => [death]);
    expect(await findFaultsOf(sqlite, scenario, undisturbed, plans)).toEqual([]);
  });

  it('that dies twice ends as if it had not', async () => {
    const plans = samplePairs(undisturbed, pairs, seededRandom());
    expect(await findFaultsOf(sqlite, scenario, undisturbed, plans)).toEqual([]);
  });
});

it('a day that dies while its ledger is created ends as if it had not', async () => {
  const undisturbed = await liveDay(newSqlite, byBody);
  const plans = (['before', 'after'] as const).map((mode) => [{ at: 1, mode, awayMs: 0, aheadMs: 0 }]);
  expect(await findFaultsOf(newSqlite, byBody, undisturbed, plans)).toEqual([]);
});
