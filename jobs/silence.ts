import type { Config } from '../src/config/load.js';
import type { Silence } from '../src/review/verdict.js';

const hourMs = 3_600_000;

/** What silence means, if it was agreed to mean something. */
export function readSilence(
  { verdicts: { silenceMeansCorrectAfter: hours } }: Config,
  now: number,
): Silence | undefined {
  return hours === undefined ? undefined : { afterMs: hours * hourMs, now };
}
