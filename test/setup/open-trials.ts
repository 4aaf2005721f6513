import { join } from 'node:path';
import { createSourceTrials, type SourceTrials } from '../../src/checks/setup/source-trials.js';
import { openTestParts } from '../support/source-parts.js';

/** Tries sources of a configuration in that folder, on the morning of 2026-11-21. */
export function openTrials(
  folder: string,
  {
    env = {},
    tell = () => {},
    signal = new AbortController().signal,
  }: { env?: NodeJS.Dict<string>; tell?: (text: string) => void; signal?: AbortSignal } = {},
): SourceTrials {
  const clock = () => Date.parse('2026-11-21T06:00:00Z');
  return createSourceTrials({
    file: join(folder, 'hotel-review.yaml'),
    env,
    clock,
    signal,
    tell,
    openParts: openTestParts,
  });
}
