import type { BusinessDay } from '../../booking/business-day.js';

/** The instants of a business day as sources ask by them: `start` belongs to it, `end` is the first that doesn't. */
export interface DayBounds {
  readonly start: Date;
  readonly end: Date;
}

export function readDayBounds({
  firstInstant,
  lastInstant,
}: Pick<BusinessDay, 'firstInstant' | 'lastInstant'>): DayBounds {
  return { start: firstInstant, end: new Date(lastInstant.getTime() + 1) };
}
