import { findFaults } from './judge.js';
import { type Engine, type Lived, liveDay, type PlannedDeath } from './live.js';
import type { Scenario } from './scenarios.js';

/** Until somebody runs the day again: at once, or so late that the service has finished. */
const absences = [0, 120_000];

/** Every way to die once. */
export function listDeaths({ points }: Lived): PlannedDeath[] {
  return points.flatMap((_, index) =>
    (['before', 'after'] as const).flatMap((mode) =>
      absences.map((awayMs) => ({ at: index + 1, mode, awayMs })),
    ),
  );
}

/** Picks that many different items. */
export function sample<Item>(items: readonly Item[], count: number, random: () => number): Item[] {
  const left = [...items];
  return Array.from({ length: Math.min(count, left.length) }, () =>
    left.splice(Math.floor(random() * left.length), 1),
  ).flat();
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
    const name = plan.map(({ at, mode, awayMs }) => describe(undisturbed, at, mode, awayMs)).join('; then ');
    const faults = await liveDay(engine, scenario, plan).then(
      (lived) => (lived.deaths === 0 ? ['nobody died'] : findFaults(lived, undisturbed)),
      (error: unknown) => [`the day did not end: ${String(error)}`],
    );
    found.push(...faults.map((fault) => `died ${name}: ${fault}`));
  }
  return found;
}

function describe({ points }: Lived, at: number, mode: string, awayMs: number): string {
  return `${mode} point ${at} (${points[at - 1]}), away for ${awayMs} ms`;
}
