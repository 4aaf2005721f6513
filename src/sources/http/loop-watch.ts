export interface LoopWatch {
  /** Whether it was seen before: at once when it was the last one, otherwise before the circle is gone through thrice. */
  isRepeat(value: string): boolean;
}

/**
 * Finds out that a row of values goes in a circle, in the memory of two of them: the last one, and one that stays for
 * twice as long each time (Brent's algorithm). A day has any number of pages, and each is looked at here.
 */
export function createLoopWatch(): LoopWatch {
  let last: string | undefined;
  let kept: string | undefined;
  let seen = 0;
  let keepAt = 1;
  return {
    isRepeat(value) {
      if (value === last || value === kept) return true;
      last = value;
      seen += 1;
      if (seen === keepAt) {
        kept = value;
        keepAt *= 2;
      }
      return false;
    },
  };
}
