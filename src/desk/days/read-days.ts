import { type BusinessDay, businessDayAt, createBusinessDay } from '../../booking/business-day.js';
import { type CanaryState, judgeCanary } from '../../ledger/canaries.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { OpenProblem } from '../../ledger/notices.js';
import { groupByDay } from '../../ledger/run.js';
import { readCompleteUntil } from '../../mappings/sync-bounds.js';
import { type Deadline, findDeadline, judgeDeadlines } from '../../notifications/deadlines.js';
import { describeNotice } from '../../notifications/describe-notice.js';
import { reviewsDay } from '../../review/day/good-day.js';
import { chooseCompared, daysToCompare, usualOf, type VolumeSettings } from '../../review/gates.js';
import { businessDayOf, type Slots } from '../../schedule/slots.js';
import type { Health } from '../../server/health.js';
import type { WriteCommand } from '../../text/shell.js';
import { judgeShownDay, type ShownDay } from './judge-shown-day.js';
import { followGoodDays } from './last-good-day.js';

export interface DaysParts {
  readonly ledger: Ledger;
  readonly timezone: string;
  /** The nightly schedule. */
  readonly nights: Slots;
  /** By when days must be good, if configured. */
  readonly deadline: Deadline | undefined;
  readonly volume: Pick<VolumeSettings, 'exceptions'>;
  readonly health: Pick<Health, 'look'>;
  readonly command: WriteCommand;
}

const monthsShown = 12;
/** More than anybody sends in that time. */
const canariesRead = 2_000;

/** Reads sequentially, so that a page takes at most one connection away from running work. */
export async function readDays(parts: DaysParts, now: number) {
  const { ledger, timezone, nights, deadline, health } = parts;
  const calendar = listCalendar(businessDayAt(new Date(now), timezone));
  const { from, to } = calendar;
  const { firstDay } = await ledger.runs.summarise(to);
  const runs = groupByDay(await ledger.runs.listOfDays({ from: from.iso, to: to.iso }));
  const canaries = await readCanaries(parts, from, now);
  const usual = await readUsual(parts, [...runs.keys()]);
  const countedFrom = deadline === undefined ? 0 : await ledger.notices.noteFirst('deadline', now);
  const slot = nights.last(new Date(now));
  const question = {
    now,
    nights,
    firstDay,
    dueUntil: slot && businessDayOf(slot, timezone).iso,
    findDeadline(day: BusinessDay) {
      const at = deadline === undefined ? undefined : findDeadline(day, deadline);
      return at !== undefined && at > countedFrom ? at : undefined;
    },
  };
  const days = calendar.days.map((day) => {
    const { iso } = day;
    const facts = {
      runs: runs.get(iso) ?? [],
      canary: canaries.get(iso),
      usual: usual.get(iso) ?? null,
    };
    return judgeShownDay(day, facts, question);
  });
  const reviewedDays = [...runs.values()].flatMap(
    (ofDay) => ofDay.find((run) => reviewsDay(run, timezone))?.day ?? [],
  );
  const next = deadline && judgeDeadlines({ deadline, timezone, now, countedFrom, reviewedDays }).next;
  const sync = await ledger.mappings.latestSync();
  const problems = await ledger.notices.listProblems();
  const { openBookings, unknownCheckIns, inHouse, firstCheckIn = null } = await ledger.cases.count(to.iso);
  return {
    /** The first day with a run. */
    firstDay: firstDay ?? null,
    ...followGoodDays(days),
    nextRunAt: nights.next(new Date(now))?.toISOString() ?? null,
    /** The next one of a day that is not reviewed yet. */
    deadline: next ? { day: next.day, at: new Date(next.at).toISOString() } : null,
    /** Not reviewed by their deadline, and not good since. */
    lateDays: days.flatMap(({ day, isLate, isGood }) => (isLate && !isGood ? [day] : [])),
    latestVolume: findLatestVolume(parts, days),
    cases: { openBookings, unknownCheckIns, inHouse, firstCheckIn },
    mappingsCompleteUntil: sync ? new Date(readCompleteUntil(sync, 0)).toISOString() : null,
    /** `ok`, or the problem. */
    parts: (await health.look()).parts,
    problems: problems.map((problem) => describeProblem(problem, parts)),
    /** Oldest first. */
    days,
  };
}

export type DaysData = Awaited<ReturnType<typeof readDays>>;

/** From the first of the month eleven months ago up to today. */
function listCalendar(today: BusinessDay) {
  const [year = 0, month = 1] = today.iso.split('-').map(Number);
  const start = new Date(Date.UTC(year, month - monthsShown, 1)).toISOString().slice(0, 10);
  const from = createBusinessDay(start, today.zone);
  const days = [from];
  for (let day = from.next(); day.iso <= today.iso; day = day.next()) days.push(day);
  return { from, to: today, days };
}

/** What happened to the newest canary of each day. */
async function readCanaries(
  { ledger }: DaysParts,
  from: BusinessDay,
  now: number,
): Promise<ReadonlyMap<string, CanaryState>> {
  const newestFirst = await ledger.canaries.list({ limit: canariesRead, since: from.firstInstant.getTime() });
  return new Map(newestFirst.toReversed().map((canary) => [canary.day, judgeCanary(canary, now)]));
}

async function readUsual(
  { ledger, volume }: DaysParts,
  days: readonly string[],
): Promise<ReadonlyMap<string, number | null>> {
  const compared = new Map(days.map((day) => [day, daysToCompare(day, volume)]));
  const volumes = await ledger.runs.listVolumes([...new Set([...compared.values()].flat())]);
  const known = new Map(volumes.map((one) => [one.day, one]));
  return new Map(
    [...compared].map(([day, before]) => {
      const good = before.flatMap((one) => known.get(one) ?? []);
      return [day, usualOf(chooseCompared(day, good).days.map(({ accepted }) => accepted))];
    }),
  );
}

/** Of the newest good day that is to be compared. */
function findLatestVolume({ volume: { exceptions } }: DaysParts, days: readonly ShownDay[]) {
  const latest = days.findLast(({ day, isGood }) => isGood && !exceptions.includes(day));
  return latest?.counts ? { day: latest.day, accepted: latest.counts.accepted, usual: latest.usual } : null;
}

function describeProblem(problem: OpenProblem, { command }: DaysParts) {
  const { event, severity, day, raisedAt } = problem;
  const { title } = describeNotice({ ...problem, stage: 'raised' }, { checkInsToday: 0, command });
  return { event, severity, title, day: day ?? null, since: new Date(raisedAt).toISOString() };
}
