import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isNightly } from '../support/nightly.js';
import {
  allGuests,
  anyHistory,
  type Event,
  type Guest,
  type History,
  type ResultFile,
  results,
} from './history.js';
import { judgeSurfaces } from './surfaces.js';
import { liveHistory } from './world.js';

function review(
  how: 'run' | 'top-up' | 'replay',
  by: 'body' | 'file',
  source: readonly Guest[],
  found: readonly ResultFile[] = results.none,
  isFollowed = false,
): Event {
  return { kind: 'review', how, by, source, results: found, isFollowed };
}

it('a file with a whole result', async () => {
  const t = performance.now();
  expect(
    await liveHistory([review('run', 'file', ['ana', 'eva', 'tom'], results.whole('eva'))], judgeSurfaces),
  ).toEqual([]);
  console.log(performance.now() - t);
});
