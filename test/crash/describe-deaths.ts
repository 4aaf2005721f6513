import { beforeAll, describe, expect, it } from 'vitest';
import { seededRandom } from '../support/seed.js';
import { findFaultsOf, samplePairs } from './every-death.js';
import { type Engine, type Lived, liveDay, type PlannedDeath } from './live.js';
import { byBody, byFile } from './scenarios.js';
import { expectUndisturbed } from './undisturbed.js';

interface Deaths {
  /** Of a day as it is lived undisturbed. */
  readonly choose: (lived: Lived, random: () => number) => readonly PlannedDeath[];
  /** How many pairs of deaths. */
  readonly pairs: number;
}

/** A day whose ledger is in that engine, and whose process dies. */
export function describeDeaths(engine: Engine, { choose, pairs }: Deaths): void {
  describe.each([byBody, byFile])('a day $name', (scenario) => {
    let undisturbed: Lived;
    beforeAll(async () => {
      undisturbed = await liveDay(engine, scenario);
    });

    it('passes the same points each time', async () => {
      expectUndisturbed(scenario, undisturbed);
      expect((await liveDay(engine, scenario)).points).toEqual(undisturbed.points);
    });

    it('that dies once ends as if it had not', async () => {
      const plans = choose(undisturbed, seededRandom()).map((death) => [death]);
      expect(await findFaultsOf(engine, scenario, undisturbed, plans)).toEqual([]);
    });

    it(`that dies twice, at ${pairs} pairs of points, ends as if it had not`, async () => {
      const plans = samplePairs(undisturbed, pairs, seededRandom());
      expect(await findFaultsOf(engine, scenario, undisturbed, plans)).toEqual([]);
    });
  });
}
