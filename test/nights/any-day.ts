import fc from 'fast-check';
import { expect } from 'vitest';
import { anyHistory } from './history.js';
import { judgeSurfaces } from './surfaces.js';
import { liveHistory } from './world.js';

/** Lives so many random days. One that fails is printed as short as it still fails, with the seed that repeats it. */
export async function liveDays(numRuns: number): Promise<void> {
  const property = fc.asyncProperty(anyHistory, async (history) => {
    expect((await liveHistory(history, judgeSurfaces)).faults).toEqual([]);
  });
  await fc.assert(property, { numRuns });
}
