import { type Archive, reportsFolder } from '../../archive/archive.js';
import { answerWithin } from '../../async/abort.js';
import { businessDayAt, createBusinessDay } from '../../booking/business-day.js';
import { findCases } from '../../cases/shown-cases.js';
import { judgeCanary } from '../../ledger/canaries.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { Notice } from '../../ledger/notice.js';
import type { Run } from '../../ledger/run.js';
import { describeNotice } from '../../notifications/describe-notice.js';
import { judgeDay } from '../../review/day/good-day.js';
import { readReport } from '../../review/day/report.js';
import { summariseVerdicts } from '../../review/verdicts/day-verdicts.js';
import type { WriteCommand } from '../../text/shell.js';
import type { DayMark } from '../marks.js';
import type { DeskVisit, Operations } from '../page.js';
import { entriesBefore, entriesPerPage, toPage } from '../parts.js';

export interface DayPageParts {
  readonly ledger: ReadOnlyLedger;
  readonly archive: Pick<Archive, 'list'>;
  readonly command: WriteCommand;
  readonly operations: Pick<Operations, 'channels'>;
}

const runsRead = 1_000;
const casesShown = 20;
const noticesShown = 50;
/** How long the page waits for the archive. */
const archiveMs = 1_000;

export async function readDayPage(
  parts: DayPageParts,
  { day, page }: { readonly day: string; readonly page: number },
  visit: DeskVisit,
) {
  const { ledger, archive, command } = parts;
  const { now, timezone } = visit;
  const today = businessDayAt(new Date(now), timezone).iso;
  const [runs, cases, problems, notices, reports] = await Promise.all([
    ledger.runs.list({ day, limit: runsRead }),
    readCases(parts, day, today, now),
    ledger.notices.listProblems(),
    ledger.notices.listOfDay(day, noticesShown),
    listReports(archive, day),
  ]);
  const toWords = (one: Notice) => toNoticeData(one, command);
  const shown = runs.slice(entriesBefore(page), entriesBefore(page) + entriesPerPage);
  return {
    day,
    ...(await judge(parts, day, runs, today, visit)),
    ...listNeighbours(day, today, timezone),
    /** Newest first. */
    runs: await Promise.all(shown.map((run) => readReport(ledger, run, { now, timezone }))),
    ...toPage(runs.length, page),
    cases,
    /** Those that last. */
    problems: problems.filter((one) => one.day === day).map(toWords),
    /** All that was raised about the day, the newest first. */
    notices: notices.map(toWords),
    /** The pages of the day that were kept when a run of it ended; null while the archive does not answer. */
    reports,
  };
}

export type DayPageData = Awaited<ReturnType<typeof readDayPage>>;

async function judge(
  { ledger }: DayPageParts,
  day: string,
  runs: readonly Run[],
  today: string,
  { now, timezone }: DeskVisit,
): Promise<{ readonly judgement: DayMark; readonly headline: string }> {
  if (runs.length > 0) {
    const [canary] = await ledger.canaries.list({ day, limit: 1 });
    return judgeDay(summariseVerdicts(day, runs), { timezone, canary: canary && judgeCanary(canary, now) });
  }
  if (day > today) return { judgement: 'not-due', headline: 'This day has not begun.' };
  if (day === today) return { judgement: 'not-due', headline: 'This day is not over, and has no run yet.' };
  const { firstDay } = await ledger.runs.summarise(businessDayAt(new Date(now), timezone));
  if (firstDay === undefined || day < firstDay)
    return { judgement: 'not-due', headline: 'No run: the reviews began later.' };
  return { judgement: 'missing', headline: 'No run: nothing of this day was reviewed.' };
}

/** Today has no next day: nothing can have happened there. */
function listNeighbours(day: string, today: string, timezone: string) {
  const { previous, next } = createBusinessDay(day, timezone);
  return {
    previous: day > '0001-01-01' ? previous().iso : null,
    next: day < today ? next().iso : null,
  };
}

/** The cases with an open booking of that day, guests in house first. Dismissed ones need no action. */
async function readCases({ ledger }: DayPageParts, day: string, today: string, now: number) {
  const found = await findCases(ledger, { day, today }, now);
  const open = found.filter(({ state }) => state !== 'dismissed');
  return {
    count: open.length,
    first: open.slice(0, casesShown).map((one) => ({
      id: one.id,
      state: one.state,
      providerName: one.providerName,
      providerHotelId: one.providerHotelId,
      serviceId: one.serviceId,
      bookedHotel: one.hotels.bookedHotel?.name ?? null,
      openBookings: one.openBookings,
      firstCheckIn: one.hasUnknownCheckIn && one.inHouse === 0 ? null : (one.firstCheckIn ?? null),
      ...{ inHouse: one.inHouse, inHouseUntil: one.inHouseUntil ?? null },
    })),
  };
}

function toNoticeData(one: Notice, command: WriteCommand) {
  const { title } = describeNotice(one, { checkInsToday: 0, command });
  const { event, stage, severity, raisedAt } = one;
  return { event, stage, severity, title, raisedAt: new Date(raisedAt).toISOString() };
}

/** Null while the archive does not answer. */
async function listReports(archive: DayPageParts['archive'], day: string): Promise<string[] | null> {
  try {
    const names = await answerWithin(archiveMs, archive.list(reportsFolder, day));
    return names.filter((name) => name.endsWith('.html'));
  } catch {
    return null;
  }
}
