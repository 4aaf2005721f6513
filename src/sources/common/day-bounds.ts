import type { BusinessDay } from '../../booking/business-day.js';

/** A business day as sources query it: `start` is its first instant, `end` the first instant after it. */
interface DayBounds {
  readonly start: Date;
  readonly end: Date;
}

export function readDayBounds({ firstInstant, lastInstant }: BusinessDay): DayBounds {
  return { start: firstInstant, end: new Date(lastInstant.getTime() + 1) };
}
