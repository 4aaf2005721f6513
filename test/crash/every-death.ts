import { createPick } from '../../src/sandbox/common/random.js';
import { findFaults } from './judge.js';
import { type Engine, type Lived, liveDay, type PlannedDeath } from './live.js';
import type { Scenario } from './scenarios.js';

/**
 * Somebody runs the day again at once, with a clock that is not ahead; or so late that the service has
 * finished.
 */
const absences = [
  { awayMs: 0, aheadMs: 600_000 },
  { awayMs: 120_000, aheadMs: 0 },
];

/** Every way to die once. */
export function listDeaths({ points }: Lived): PlannedDeath[] {
  return points.flatMap((_, index) =>
    (['before', 'after'] as const).flatMap((mode) =>
      absences.map((absence) => ({ at: index + 1, mode, ...absence })),
    ),
  );
}

/**
 * One death at each kind of moment: by what is done there, and what was done just before. Whether it is done, and how long
 * nobody comes back, is chosen at random.
 */
export function sampleDeaths(lived: Lived, random: () => number): PlannedDeath[] {
  const { points } = lived;
  const kinds = new Map<string, PlannedDeath[]>();
  for (const death of listDeaths(lived)) {
    const kind = `${points[death.at - 2]} ${points[death.at - 1]}`;
    kinds.set(kind, [...(kinds.get(kind) ?? []), death]);
  }
  return [...kinds.values()].map(createPick(random));
}

/** Two deaths, of which the second may come too late for anybody to die. */
export function samplePairs(lived: Lived, count: number, random: () => number): PlannedDeath[][] {
  const pick = createPick(random);
  const deaths = listDeaths(lived);
  return Array.from({ length: count }, () => [pick(deaths), pick(deaths)]);
}

/** Lives the day once for each plan; one line for each fault. */
export async function findFaultsOf(
  engine: Engine,
  scenario: Scenario,
  undisturbed: Lived,
  plans: readonly (readonly PlannedDeath[])[],
): Promise<string[]> {
  const found: string[] = [];
  for (const plan of plans) {
    const name = plan.map((death) => describe(undisturbed, death)).join('; then ');
    const faults = await liveDay(engine, scenario, plan).then(
      (lived) => (lived.deaths === 0 ? ['nobody died'] : findFaults(lived, undisturbed)),
      (error: unknown) => [`the day did not end: ${String(error)}`],
    );
    found.push(...faults.map((fault) => `died ${name}: ${fault}`));
  }
  return found;
}

function describe({ points }: Lived, { at, mode, awayMs }: PlannedDeath): string {
  return `${mode} point ${at} (${points[at - 1]}), away for ${awayMs} ms`;
}
