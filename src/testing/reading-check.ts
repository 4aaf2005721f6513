import type { BusinessDay } from '../booking/business-day.js';
import type { PreparedSource } from './source-driver.js';

/** A source with a day in it. */
export interface ReadingSubject extends Omit<PreparedSource, 'places'> {
  readonly day: BusinessDay;
  /** How many bookings the day holds, where that is known. */
  readonly count?: number;
}

/** What can be asked of a source whatever its day holds. */
export interface ReadingCheck {
  readonly name: string;
  /** So many bookings show it best. */
  readonly records: number;
  check(subject: ReadingSubject): Promise<void>;
}
