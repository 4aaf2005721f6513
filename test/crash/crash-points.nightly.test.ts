import { beforeAll, describe, expect, it } from 'vitest';
import { seededRandom } from '../support/seed.js';
import { usePostgres } from '../support/use-servers.js';
import { findFaultsOf, listDeaths, samplePairs } from './every-death.js';
import { type Lived, liveDay } from './live.js';
import { onPostgres } from './postgres-engine.js';
import { byBody, byFile } from './scenarios.js';
import { sqlite } from './sqlite-engine.js';
import { expectUndisturbed } from './undisturbed.js';

const pairs = 100;
const engines = [
  { ledger: 'SQLite', engine: sqlite },
  { ledger: 'PostgreSQL', engine: onPostgres(usePostgres()) },
];

describe.each(engines)('with its ledger in $ledger', { timeout: 1_800_000 }, ({ engine }) => {
  describe.each([byBody, byFile])('a day $name', (scenario) => {
    let undisturbed: Lived;
    beforeAll(async () => {
      undisturbed = await liveDay(engine, scenario);
    });

    it('passes the same points each time', async () => {
      expectUndisturbed(scenario, undisturbed);
      expect((await liveDay(engine, scenario)).points).toEqual(undisturbed.points);
    });

    it('that dies at any of its points ends as if it had not', async () => {
      const plans = listDeaths(undisturbed).map((death) => [death]);
      expect(await findFaultsOf(engine, scenario, undisturbed, plans)).toEqual([]);
    });

    it(`that dies twice, at ${pairs} pairs of points, ends as if it had not`, async () => {
      const plans = samplePairs(undisturbed, pairs, seededRandom());
      expect(await findFaultsOf(engine, scenario, undisturbed, plans)).toEqual([]);
    });
  });
});
