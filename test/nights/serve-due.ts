import { businessDayAt } from '../../src/booking/business-day.js';
import type { Config } from '../../src/config/load.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { findDayRange, findDueDays, toDailyPattern } from '../../src/schedule/due-days.js';
import { createSlots } from '../../src/schedule/slots.js';

/** Whether `serve` would work on that day by itself, if it looked now. */
export async function isDueBySchedule(
  day: string,
  { schedule, timezone }: Config,
  ledger: Ledger,
  clock: () => number,
): Promise<boolean> {
  const slots = createSlots(schedule.cron, timezone);
  const now = new Date(clock());
  const range = findDayRange(slots, now, schedule.catchUpDays);
  if (!range) return false;
  const { firstDay } = await ledger.runs.summarise(businessDayAt(now, timezone));
  const due = findDueDays({
    ...{ slots, now, firstDay },
    giveUps: createSlots(toDailyPattern(schedule.giveUpAfter), timezone),
    watchedSince: now,
    catchUpDays: schedule.catchUpDays,
    restMs: schedule.resumeMinutes * 30_000,
    latestRuns: await ledger.runs.listLatest({ from: range.from.iso, to: range.to.iso }),
    awaiting: await ledger.runs.listActive(),
  });
  return due.some((one) => one.day.iso === day);
}
