import { businessDayAt } from '../../src/booking/business-day.js';
import type { Config } from '../../src/config/load.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { createCronTimes } from '../../src/schedule/cron-times.js';
import { findDayRange, findDueDays, toDailyPattern } from '../../src/schedule/due-days.js';

/** Whether `serve` would work on that day by itself, if it looked now. */
export async function isDueBySchedule(
  day: string,
  { schedule, timezone }: Config,
  ledger: Ledger,
  clock: () => number,
): Promise<boolean> {
  const cronTimes = createCronTimes(schedule.cron, timezone);
  const now = new Date(clock());
  const range = findDayRange(cronTimes, now, schedule.catchUpDays);
  if (!range) return false;
  const { firstDay } = await ledger.runs.summarise(businessDayAt(now, timezone));
  const due = findDueDays({
    ...{ cronTimes, now, firstDay },
    giveUps: createCronTimes(toDailyPattern(schedule.giveUpAfter), timezone),
    watchedSince: now,
    catchUpDays: schedule.catchUpDays,
    restMs: schedule.resumeMinutes * 30_000,
    latestRuns: await ledger.runs.listLatest({ from: range.from.iso, to: range.to.iso }),
    awaiting: await ledger.runs.listActive(),
  });
  return due.some((one) => one.day.iso === day);
}
