import { isCalendarDay } from '../../booking/business-day.js';
import { type MadeDay, makeBookings } from './made-bookings.js';
import type { MadeRecord } from './made-record.js';

const dayMs = 86_400_000;
const daysBefore = 7;
/** How many bookings of each of those days are made up. */
const firstBookings = 100;

interface BookedDay extends Omit<MadeDay, 'newVersions'> {
  /** The share of new versions of bookings of the seven days before, as the same options make them. */
  readonly newVersions: number;
}

/** @throws RangeError for an invalid day */
export function bookDay({ newVersions: share, ...day }: BookedDay): MadeDay {
  if (!isCalendarDay(day.day))
    throw new RangeError(`expected a day as YYYY-MM-DD, got: ${JSON.stringify(day.day)}`);
  const earlier: MadeRecord[] = [];
  for (let before = share > 0 ? daysBefore : 0; before > 0; before -= 1) {
    const dayBefore = new Date(Date.parse(day.day) - before * dayMs).toISOString().slice(0, 10);
    const count = Math.min(firstBookings, Math.floor(day.count * (1 - share)));
    earlier.push(...makeBookings({ ...day, day: dayBefore, count }));
  }
  return { ...day, newVersions: { share, earlier } };
}
