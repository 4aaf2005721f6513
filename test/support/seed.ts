import { env } from 'node:process';
import { createSeededRandom } from '../../src/sandbox/common/random.js';

/** Of every day: what was green stays green until something changes. */
export const usualSeed = 20_261_120;

/**
 * What generated cases are made from: properties, histories, deaths and faults. `SEED=… npm test` tries another one, `SEED=new` one
 * that nobody has chosen, as each night does; global-setup.ts chooses it once for all processes, and reporter.ts says how to
 * repeat it. What a seed finds becomes a named case.
 */
export const seed = readSeed();

function readSeed(): number {
  const given = env.SEED ?? usualSeed;
  if (given === 'new') return Math.floor(Math.random() * 2 ** 31);
  // An empty text would be 0.
  const value = given === '' ? Number.NaN : Number(given);
  if (Number.isSafeInteger(value)) return value;
  throw new Error(`SEED: expected an integer or "new", got: ${JSON.stringify(given)}`);
}

/** Random numbers from that seed; another number for each part of a test that goes its own way. */
export function seededRandom(part = 0): () => number {
  return createSeededRandom(seed + part);
}
