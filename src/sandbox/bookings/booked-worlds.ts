import { isCalendarDay } from '../../booking/business-day.js';
import { createLivingWorld } from '../world/living-world.js';
import type { Pace, WorldSettings } from '../world/pace.js';
import { type BookableWorld, createWorld } from '../world/world.js';
import { type MadeDay, makeBookings } from './made-bookings.js';
import type { MadeRecord } from './made-record.js';

/** The world at the end of a day in UTC, but never later than now. Call it for days in ascending order. */
export type WorldAt = (day: string) => BookableWorld;

const dayMs = 86_400_000;
const daysBefore = 7;
/** How many bookings of each of those days are made up. */
const firstBookings = 100;

export function createWorldAt(settings: WorldSettings & Pace, now: number): WorldAt {
  let at = 0;
  const world = createLivingWorld({
    world: createWorld({ ...settings, seed: settings.world }),
    pace: settings,
    clock: () => at,
  });
  return (day) => {
    at = Math.min(Date.parse(day) + dayMs, now);
    return world.readBookable();
  };
}

interface BookedDay extends Omit<MadeDay, 'world' | 'newVersions'> {
  readonly worldAt: WorldAt;
  /** The share of new versions of bookings of the seven days before, as the same options make them. */
  readonly newVersions: number;
}

/** @throws RangeError for an invalid day */
export function bookDay({ worldAt, newVersions: share, ...day }: BookedDay): MadeDay {
  if (!isCalendarDay(day.day))
    throw new RangeError(`expected a day as YYYY-MM-DD, got: ${JSON.stringify(day.day)}`);
  const earlier: MadeRecord[] = [];
  for (let before = share > 0 ? daysBefore : 0; before > 0; before -= 1) {
    const dayBefore = new Date(Date.parse(day.day) - before * dayMs).toISOString().slice(0, 10);
    const count = Math.min(firstBookings, Math.floor(day.count * (1 - share)));
    earlier.push(...makeBookings({ ...day, day: dayBefore, count, world: worldAt(dayBefore) }));
  }
  return { ...day, world: worldAt(day.day), newVersions: { share, earlier } };
}
