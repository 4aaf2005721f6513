import { beforeAll, describe, expect, it } from 'vitest';
import { seededRandom } from '../support/seed.js';
import { findFaultsOf, listDeaths, samplePairs } from './every-death.js';
import { type Engine, type Lived, liveDay } from './live.js';
import { byBody, byFile } from './scenarios.js';
import { expectUndisturbed } from './undisturbed.js';

const pairs = 60;

/** Every death of a day whose ledger is in that engine. */
export function describeAnyDeath(engine: Engine): void {
  describe.each([byBody, byFile])('a day $name', { timeout: 1_800_000 }, (scenario) => {
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
}
