import { onTestFailed } from 'vitest';
import { createSeededRandom } from '../../src/sandbox/common/random.js';

export interface Seed {
  readonly value: number;
  readonly random: () => number;
}

/** Another one each time, which is told when the test fails: with KILL_SEED the same comes once more. */
export function createSeed(): Seed {
  const value = Number(process.env.KILL_SEED ?? Math.floor(Math.random() * 2 ** 32));
  onTestFailed(() => console.error(`the same once more: KILL_SEED=${value}`));
  return { value, random: createSeededRandom(value) };
}
