import type { Comparison, Contestant, Measurement } from '../../bench/comparison.js';
import { judge, summarise } from '../../bench/harness/judge.js';
import type { Results, Row } from '../../bench/harness/results.js';

/** Returns the values one after another, then 0. */
export function contestant(name: string, ...values: readonly number[]): Contestant {
  const left = [...values];
  return { name, run: async (): Promise<Measurement> => ({ value: left.shift() ?? 0 }) };
}

/** Compares two seconds with four, in one round, by default. */
export function comparison(name: string, changes: Partial<Comparison> = {}): Comparison {
  return {
    name,
    work: `work of ${name}`,
    against: 'a script',
    unit: 's',
    reach: { ratio: { atMost: 1 } },
    rounds: 1,
    findObstacle: () => undefined,
    prepare: async () => ({
      ours: contestant('ours', 2),
      other: contestant('the script', 4),
      close: async () => {},
    }),
    ...changes,
  };
}

export function row(name: string, ours: number, other: number, changes: Partial<Row> = {}): Row {
  const { work, against, unit, reach } = comparison(name);
  const sides = {
    ours: summarise('ours', [{ value: ours, cpuSeconds: 1.5, peakMb: 200 }]),
    other: summarise('the script', [{ value: other }]),
  };
  const judged = judge({ name, unit, reach }, sides.ours, sides.other);
  const taken = { takenAt: '2026-11-21T10:00:00.000Z', commit: '1234567', notes: [`a note on ${name}`] };
  return { name, work, against, unit, reach, ...sides, ...judged, ...taken, ...changes };
}

export function results(rows: readonly Row[], changes: Partial<Results> = {}): Results {
  return {
    scale: 'full',
    machine: { processor: 'Fast One', cores: 2, memoryGb: 8, system: 'Linux 6', fileSystem: 'ext4' },
    versions: { node: 'v20.19.0' },
    rows,
    notTried: [],
    ...changes,
  };
}
