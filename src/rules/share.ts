/** Tolerance for the rounding of binary fractions. */
const rounding = 1e-6;

/** True when `part` is more than the share of `whole`: 29 of 100 is not more than 0.29. */
export function isMoreThanShare(part: number, whole: number, share: number): boolean {
  return part > share * whole + rounding;
}

/** True when `part` is less than the share of `whole`: 29 of 100 is not less than 0.29. */
export function isLessThanShare(part: number, whole: number, share: number): boolean {
  return part < share * whole - rounding;
}

/** 0.07 as 7% */
export function formatShare(share: number): string {
  return `${Number((share * 100).toFixed(4))}%`;
}
