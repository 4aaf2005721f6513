import { type BusinessDay, businessDayAt } from '../booking/business-day.js';
import { countMissedInRow } from '../ledger/canaries.js';
import type { CaseCounts } from '../ledger/case.js';
import type { ReadOnlyLedger } from '../ledger/ledger.js';
import type { MessageCounts } from '../ledger/messages.js';
import { type NoticeEvent, noticeEventNames, noticeEvents } from '../ledger/notice.js';
import { isToBeAccepted, type Run, type RunState } from '../ledger/run.js';
import type { LedgerSummary } from '../ledger/runs.js';
import { readCompleteUntil } from '../mappings/sync-bounds.js';
import { reviewsDay } from '../review/day/good-day.js';
import { listLastDays } from './last-good-day.js';
import { type LatestDay, summariseLatestDay } from './latest-day.js';

/** What the metrics say about the ledger, whichever process asks. Instants are epoch milliseconds. */
export interface LedgerFacts {
  readonly summary: LedgerSummary;
  /** The days before today, by what became of them. */
  readonly recentDays: Readonly<Record<DayState, number>>;
  /** The newest of them that was collected. */
  readonly latestDay?: LatestDay | undefined;
  readonly cases: CaseCounts;
  /** The problems that last, by event. */
  readonly problems: Readonly<Partial<Record<NoticeEvent, number>>>;
  /** One for each notice and channel. */
  readonly messages: MessageCounts;
  /** How many canaries in a row no e-mail named in time; absent if no outcome is known. */
  readonly missedCanaries?: number | undefined;
  /** Up to when the local copy of the mappings is complete; absent before the first sync. */
  readonly mappingsReach?: number | undefined;
}

/** The state of a day's newest run; one that succeeded makes it `good`, or leaves it `incomplete` or `to-be-accepted`. */
export type DayState = Exclude<RunState, 'succeeded'> | 'good' | 'incomplete' | 'to-be-accepted' | 'missing';

const noDays: Readonly<Record<DayState, number>> = {
  good: 0,
  incomplete: 0,
  'to-be-accepted': 0,
  missing: 0,
  collecting: 0,
  delivering: 0,
  'awaiting-result': 0,
  failed: 0,
  cancelled: 0,
};

/** Days before today that count as recent. */
export const recentDays = 14;
const runsOfDay = 1_000;
/** More nights in a row would make no difference. */
const canariesCounted = 100;

interface FactsOptions {
  readonly now: number;
  readonly timezone: string;
}

/** Reads one thing after the other, so that a scrape takes at most one connection away from reviews. */
export async function readLedgerFacts(
  ledger: ReadOnlyLedger,
  { now, timezone }: FactsOptions,
): Promise<LedgerFacts> {
  const today = businessDayAt(new Date(now), timezone);
  const days = listLastDays(recentDays + 1, now, timezone).slice(1);
  const summary = await ledger.runs.summarise(today);
  const latestRuns = await ledger.runs.listLatest({
    from: days.at(-1)?.iso ?? today.iso,
    to: days[0]?.iso ?? today.iso,
  });
  const sync = await ledger.mappings.latestSync();
  return {
    summary,
    recentDays: countDays(days, latestRuns, summary, timezone),
    latestDay: await readLatestDay(ledger, latestRuns),
    cases: await ledger.cases.count(today.iso),
    problems: countProblems(await ledger.notices.listProblems()),
    messages: await ledger.notices.countMessages(),
    missedCanaries: countMissedInRow(await ledger.canaries.list({ limit: canariesCounted }), now),
    mappingsReach: sync && readCompleteUntil(sync, 0),
  };
}

function countDays(
  days: readonly BusinessDay[],
  latestRuns: readonly Run[],
  { firstDay }: LedgerSummary,
  timezone: string,
): Record<DayState, number> {
  const counts = { ...noDays };
  const runs = new Map(latestRuns.map((run) => [run.day, run]));
  for (const { iso } of days) {
    const run = runs.get(iso);
    if (run) counts[stateOfDay(run, timezone)] += 1;
    else if (firstDay !== undefined && iso > firstDay) counts.missing += 1;
  }
  return counts;
}

function stateOfDay(run: Run, timezone: string): DayState {
  if (run.state !== 'succeeded') return run.state;
  if (!reviewsDay(run, timezone)) return 'incomplete';
  return isToBeAccepted(run) ? 'to-be-accepted' : 'good';
}

function countProblems(
  problems: readonly { readonly event: NoticeEvent }[],
): Partial<Record<NoticeEvent, number>> {
  const lasting = noticeEventNames.filter((event) => noticeEvents[event].lasts !== 'once');
  return Object.fromEntries(
    lasting.map((event) => [event, problems.filter((problem) => problem.event === event).length]),
  );
}

async function readLatestDay(
  ledger: ReadOnlyLedger,
  latestRuns: readonly Run[],
): Promise<LatestDay | undefined> {
  const day = latestRuns.findLast(({ collectedAt }) => collectedAt !== undefined)?.day;
  if (day === undefined) return undefined;
  const runs = await ledger.runs.list({ day, limit: runsOfDay });
  const volume = await ledger.runs.findVolume(day);
  return summariseLatestDay(day, runs, volume?.providers ?? null);
}
