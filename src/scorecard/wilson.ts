/** The two-sided 95 % quantile of the normal distribution. */
const z = 1.959963984540054;

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/**
 * The 95 % interval of a share after Wilson: unlike the share itself, it tells two of ten from two hundred of a thousand.
 * Undefined if nothing was counted.
 */
export function wilsonInterval(hits: number, of: number): Interval | undefined {
  if (of === 0) return undefined;
  const share = hits / of;
  const denominator = 1 + z ** 2 / of;
  const center = share + z ** 2 / (2 * of);
  const margin = z * Math.sqrt((share * (1 - share)) / of + z ** 2 / (4 * of ** 2));
  return {
    low: hits === 0 ? 0 : (center - margin) / denominator,
    high: hits === of ? 1 : (center + margin) / denominator,
  };
}
