import { max, median, min } from 'simple-statistics';
import type { Comparison, Measurement, Reach } from '../comparison.js';

/** The results of one side over all rounds. */
export interface SideSummary {
  readonly name: string;
  readonly samples: readonly Measurement[];
  readonly median: number;
  readonly min: number;
  readonly max: number;
  /** Median; absent where it was not measured. */
  readonly cpuSeconds?: number;
  /** The highest of all rounds; absent where it was not measured. */
  readonly peakMb?: number;
}

export interface Judgement {
  /** Our median divided by the other's; absent without another side. */
  readonly ratio?: number;
  /** Absent without a target. */
  readonly isReached?: boolean;
}

/** @throws Error without a sample */
export function summarise(name: string, samples: readonly Measurement[]): SideSummary {
  const values = samples.map(({ value }) => value);
  const cpuSeconds = samples.flatMap((sample) => sample.cpuSeconds ?? []);
  const peaks = samples.flatMap((sample) => sample.peakMb ?? []);
  return {
    name,
    samples,
    median: median(values),
    min: min(values),
    max: max(values),
    ...(cpuSeconds.length > 0 && { cpuSeconds: median(cpuSeconds) }),
    ...(peaks.length > 0 && { peakMb: max(peaks) }),
  };
}

/** @throws Error when the target needs a figure that was not measured */
export function judge(
  { name, reach, unit }: Pick<Comparison, 'name' | 'reach' | 'unit'>,
  ours: SideSummary,
  other: SideSummary | undefined,
): Judgement {
  const ratio = other && ours.median / other.median;
  const verdicts: boolean[] = [];
  if (reach.ratio) {
    if (ratio === undefined) throw new Error(`${name}: its reach has a ratio, but there is no other side`);
    verdicts.push('atMost' in reach.ratio ? ratio <= reach.ratio.atMost : ratio >= reach.ratio.atLeast);
  }
  if (reach.ours) verdicts.push(figureFor(name, reach.ours.unit, unit, ours) <= reach.ours.atMost);
  return {
    ...(ratio !== undefined && { ratio }),
    ...(verdicts.length > 0 && { isReached: verdicts.every(Boolean) }),
  };
}

type LimitUnit = NonNullable<Reach['ours']>['unit'];

/** Our figure for a limit in that unit: the median, or the memory peak for a limit in MB. */
function figureFor(name: string, limit: LimitUnit, unit: Comparison['unit'], ours: SideSummary): number {
  if (limit === unit) return ours.median;
  if (limit === 'ms' && unit === 's') return ours.median * 1000;
  if (limit === 's' && unit === 'ms') return ours.median / 1000;
  if (limit === 'MB' && ours.peakMb !== undefined) return ours.peakMb;
  throw new Error(`${name}: its reach has a limit in ${limit}, which was not measured`);
}
