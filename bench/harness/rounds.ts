import type { Contestant, Measurement, Stage } from '../comparison.js';

export interface Rounds {
  readonly ours: readonly Measurement[];
  /** As many as ours; empty without another side. */
  readonly other: readonly Measurement[];
}

export interface RoundsOptions {
  readonly rounds: number;
  /** Milliseconds: no round starts that would probably end later, except the first. */
  readonly endsBy?: number;
  /** Monotonic, in milliseconds. */
  readonly now: () => number;
  readonly onRound: (number: number, ours: Measurement, other: Measurement | undefined) => void;
}

/**
 * Runs both sides alternately: ours first in odd rounds, the other one first in even ones, so that neither the state of
 * the machine nor the effects of a turn favour one side.
 */
export async function takeRounds(
  { ours, other }: Pick<Stage, 'ours' | 'other'>,
  { rounds, endsBy = Number.POSITIVE_INFINITY, now, onRound }: RoundsOptions,
): Promise<Rounds> {
  const taken: { ours: Measurement[]; other: Measurement[] } = { ours: [], other: [] };
  let longest = 0;
  for (let number = 1; number <= rounds; number += 1) {
    const began = now();
    if (number > 1 && began + longest > endsBy) break;
    const turns: readonly ('ours' | 'other')[] = number % 2 === 1 ? ['ours', 'other'] : ['other', 'ours'];
    for (const side of turns) {
      const contestant = side === 'ours' ? ours : other;
      if (contestant) taken[side].push(await takeTurn(contestant));
    }
    longest = Math.max(longest, now() - began);
    onRound(number, taken.ours.at(-1) as Measurement, taken.other.at(-1));
  }
  return taken;
}

async function takeTurn(contestant: Contestant): Promise<Measurement> {
  const measurement = await contestant.run();
  if (!(Number.isFinite(measurement.value) && measurement.value > 0))
    throw new Error(`${contestant.name}: measured ${measurement.value}, expected a positive number`);
  return measurement;
}
