import { beforeAll, describe, expect, it } from 'vitest';
import { createSeed } from '../support/processes.js';
import { findFaultsOf, listDeaths, sample } from './every-death.js';
import { type Lived, liveDay } from './live.js';
import { byBody, byFile } from './scenarios.js';
import { sqlite } from './sqlite-engine.js';
import { expectUndisturbed } from './undisturbed.js';

/** The nightly suite has them all. */
const [deaths, pairs] = [40, 10];

describe.each([byBody, byFile])('a day $name', (scenario) => {
  let undisturbed: Lived;
  beforeAll(async () => {
    undisturbed = await liveDay(sqlite, scenario);
  });

  it('passes the same points each time', async () => {
    expectUndisturbed(scenario, undisturbed);
    expect((await liveDay(sqlite, scenario)).points).toEqual(undisturbed.points);
  });

  it(`that dies at ${deaths} of its points ends as if it had not`, async () => {
    const { random } = createSeed();
    const plans = sample(listDeaths(undisturbed), deaths, random).map((death) => [death]);
    expect(await findFaultsOf(sqlite, scenario, undisturbed, plans)).toEqual([]);
  });

  it('that dies twice ends as if it had not', async () => {
    const { random } = createSeed();
    const plans = Array.from({ length: pairs }, () => sample(listDeaths(undisturbed), 2, random));
    expect(await findFaultsOf(sqlite, scenario, undisturbed, plans)).toEqual([]);
  });
});
