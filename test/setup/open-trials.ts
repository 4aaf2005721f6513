import { join } from 'node:path';
import { openSourceTrials } from '../../jobs/source-trials.js';
import type { SourceTrials } from '../../src/setup/examination/source-trials.js';
import { silentVoice } from '../support/sampled.js';

/** Trials of sources of a configuration in that folder, on the morning of 2026-11-21. */
export function openTrials(
  folder: string,
  {
    env = {},
    tell = () => {},
    signal = new AbortController().signal,
  }: { env?: NodeJS.Dict<string>; tell?: (text: string) => void; signal?: AbortSignal } = {},
): SourceTrials {
  const clock = () => Date.parse('2026-11-21T06:00:00Z');
  return openSourceTrials({
    file: join(folder, 'hotel-review.yaml'),
    env,
    clock,
    signal,
    tell,
    voice: silentVoice,
    onAbandoned: () => {},
  });
}
