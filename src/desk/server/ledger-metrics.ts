import { Gauge, type Registry } from 'prom-client';
import { showInLine } from '../../base/foreign-text.js';
import { type BusinessDay, businessDayAt, createBusinessDay, goBack } from '../../booking/business-day.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import { readCompleteUntil } from '../../mappings/sync-bounds.js';
import { daysLookedBack, isMissing, readKnownDays } from '../../review/day/missing-days.js';
import { readDayOutcome } from '../../review/outcome/read-outcome.js';
import { countMissedInRow } from '../../rules/canary.js';
import type { DayOutcome } from '../../rules/day-outcome.js';
import { countDaysBehind, reviewsDay } from '../../rules/good-day.js';
import { noticeEventNames, noticeEvents } from '../../rules/notice.js';
import { type Counts, isToBeAccepted, type Run, type RunState, runStates } from '../../rules/run.js';

/** More nights in a row would make no difference. */
const canariesCounted = 100;

/** The state of a day's newest run; one that succeeded makes it `good`, or leaves it `incomplete` or `to-be-accepted`. */
type DayState = Exclude<RunState, 'succeeded'> | 'good' | 'incomplete' | 'to-be-accepted' | 'missing';

const dayStates: readonly DayState[] = [
  ...(['good', 'incomplete', 'to-be-accepted', 'missing'] as const),
  ...runStates.filter((state) => state !== 'succeeded'),
];
const lastingEvents = noticeEventNames.filter((event) => noticeEvents[event].lasts !== 'once');

/** What the metrics say about the ledger, whichever process asks. Instants are epoch milliseconds. */
export type LedgerFacts = Awaited<ReturnType<typeof readLedgerFacts>>;

/** Reads one thing after the other, so that a scrape takes at most one connection away from reviews. */
export async function readLedgerFacts(
  ledger: ReadOnlyLedger,
  { now, timezone }: { readonly now: number; readonly timezone: string },
) {
  const today = businessDayAt(new Date(now), timezone);
  const days = Array.from({ length: daysLookedBack }, (_, index) => goBack(today, daysLookedBack - index));
  const known = await readKnownDays(ledger, today);
  const { summary, latestOf } = known;
  const begun = days.map(({ iso }) => iso).filter((day) => latestOf(day));
  const stateOf = (day: BusinessDay): DayState | undefined => {
    const run = latestOf(day.iso);
    if (run) return stateAfter(run, timezone);
    return isMissing(day, known) ? 'missing' : undefined;
  };
  const sync = await ledger.mappings.latestSync();
  const problems = (await ledger.notices.listProblems()).map(({ event }) => event);
  return {
    summary,
    /** The days before today, by what became of them. */
    recentDays: countEach(dayStates, days.map(stateOf)),
    /** The newest of them that was collected. */
    latestDay: await readLatestDay(ledger, begun),
    cases: await ledger.cases.count(today.iso),
    /** The problems that last, by event. */
    problems: countEach(lastingEvents, problems),
    /** One for each notice and channel. */
    messages: await ledger.notices.countMessages(),
    /** How many canaries in a row no e-mail named in time; undefined if no outcome is known. */
    missedCanaries: countMissedInRow(await ledger.canaries.list({ limit: canariesCounted }), now),
    /** Up to when the local copy of the mappings is complete; undefined before the first sync. */
    mappingsReach: sync && readCompleteUntil(sync, 0),
  };
}

function stateAfter(run: Run, timezone: string): DayState {
  if (run.state !== 'succeeded') return run.state;
  if (!reviewsDay(run, timezone)) return 'incomplete';
  return isToBeAccepted(run) ? 'to-be-accepted' : 'good';
}

function countEach(names: readonly string[], found: readonly (string | undefined)[]): Record<string, number> {
  return Object.fromEntries(names.map((name) => [name, found.filter((one) => one === name).length]));
}

/** @param begun days with a run, the oldest first. The newest run of a day may have failed before it was collected. */
async function readLatestDay(ledger: ReadOnlyLedger, begun: readonly string[]) {
  for (const day of begun.toReversed()) {
    const outcome = await readDayOutcome(ledger, day);
    if (!outcome.runs.some(({ collectedAt }) => collectedAt !== undefined)) continue;
    return summariseLatestDay(outcome, (await ledger.runs.findVolume(day))?.providers ?? null);
  }
  return undefined;
}

/** Each value of a label is a series of its own for Prometheus: a day has few of them, whatever its source holds. */
const namedProviders = 20;
const longestName = 100;
const otherProviders = 'other';

/**
 * What became of the bookings of one day, over all its runs. Null stands for unknown.
 *
 * @param providers accepted bookings by provider; null where they were not counted
 */
export function summariseLatestDay(
  { day, accepted, delivered, refused, pending, posted, affected, unanswered, suspects, runs }: DayOutcome,
  providers: Readonly<Record<string, number>> | null,
) {
  // A run that tops a day up reads the whole source again: what it can't send was counted before.
  const { rejected = 0, filtered = 0 }: Partial<Counts> = runs[0]?.counts ?? {};
  return {
    day,
    records: { accepted, rejected, filtered },
    bookings: { delivered, refused, pending },
    ...{ posted, affected, unanswered, suspects },
    providers: joinSmall(Object.entries(providers ?? {})),
  };
}

/** The largest first, the rest as `other`. */
function joinSmall(providers: readonly (readonly [string, number])[]): ReadonlyMap<string, number> {
  const sorted = [...providers].sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1));
  const joined = new Map<string, number>();
  for (const [index, [name, bookings]] of sorted.entries()) {
    const label =
      index < namedProviders ? [...showInLine(name)].slice(0, longestName).join('') : otherProviders;
    joined.set(label, (joined.get(label) ?? 0) + bookings);
  }
  return joined;
}

interface LedgerGauge {
  readonly help: string;
  /** Then there is one for each of its values. */
  readonly label?: string;
  /** What is undefined or null is absent. */
  read(
    facts: LedgerFacts & { readonly names: NameAges; readonly now: number; readonly timezone: string },
  ): number | null | undefined | Readonly<Record<string, number>> | ReadonlyMap<string, number>;
}

/** The places that hold guest names, each with the age of its oldest. */
export type NameAges = readonly { readonly place: string; readonly ageDays: number }[];

/*
 * An instant is given as such and not as an age, wherever that is possible: it stays true while nobody updates it, as in a
 * file that a run has written.
 */
const ledgerGauges: Readonly<Record<string, LedgerGauge>> = {
  last_good_day_timestamp_seconds: {
    help: 'When the last business day whose bookings were reviewed was over, in seconds since 1970',
    read: ({ summary: { lastGoodDay }, timezone }) => endOfDay(lastGoodDay, timezone),
  },
  last_good_day_age_days: {
    help: "Days between yesterday and the last good day: 0 when yesterday's bookings were reviewed",
    read: ({ summary: { lastGoodDay }, now, timezone }) =>
      lastGoodDay === undefined ? undefined : countDaysBehind(lastGoodDay, now, timezone),
  },
  runs: {
    help: 'Runs that the ledger holds, by state',
    label: 'state',
    read: ({ summary }) => summary.runsByState,
  },
  day_states: {
    help: 'How many of the 14 days before today are in which state, by their newest run',
    label: 'state',
    read: ({ recentDays }) => recentDays,
  },
  latest_day_timestamp_seconds: {
    help: 'When the latest day, the newest before today that was collected, was over, in seconds since 1970',
    read: ({ latestDay, timezone }) => endOfDay(latestDay?.day, timezone),
  },
  latest_day_records: {
    help: 'Records of the source of the latest day, by outcome',
    label: 'outcome',
    read: ({ latestDay }) => latestDay?.records,
  },
  latest_day_bookings: {
    help: 'Accepted bookings of the latest day, by state',
    label: 'state',
    read: ({ latestDay }) => latestDay?.bookings,
  },
  latest_day_provider_bookings: {
    help: 'Accepted bookings of the latest day, by provider: the 20 largest, and the rest as other',
    label: 'provider',
    read: ({ latestDay }) => latestDay?.providers,
  },
  latest_day_posted_bookings: {
    help: 'Bookings of the latest day that went by body although the day went by file',
    read: ({ latestDay }) => latestDay?.posted,
  },
  latest_day_affected_bookings: {
    help: 'Bookings of the latest day whose mapping its result marks as incorrect',
    read: ({ latestDay }) => latestDay?.affected,
  },
  latest_day_unanswered_bookings: {
    help: 'Bookings of the latest day that went by file and have no verdict',
    read: ({ latestDay }) => latestDay?.unanswered,
  },
  latest_day_suspect_bookings: {
    help: 'Bookings of the latest day whose mapping differs from the local copy of the mappings',
    read: ({ latestDay }) => latestDay?.suspects,
  },
  mapping_cases: {
    help: 'Cases that the ledger holds, by the state of their mapping',
    label: 'state',
    read: ({ cases }) => cases.byState,
  },
  open_case_bookings: {
    help: 'Bookings of cases whose stay is not over and which nobody has settled, by what is known about their check-in',
    label: 'check_in',
    read: ({ cases: { openBookings, unknownCheckIns: unknown, inHouse } }) => ({
      'in-house': inHouse,
      known: openBookings - unknown - inHouse,
      unknown,
    }),
  },
  nearest_open_check_in_timestamp_seconds: {
    help: 'When the earliest check-in day of those bookings begins, in seconds since 1970; in the past while a guest is in house',
    read: ({ cases: { firstCheckIn: day }, timezone }) =>
      day === undefined ? undefined : createBusinessDay(day, timezone).firstInstant.getTime() / 1000,
  },
  open_problems: {
    help: 'Problems that people are told about and that are not over, by event',
    label: 'event',
    read: ({ problems }) => problems,
  },
  pending_notifications: {
    help: 'Notifications that no receiver has accepted yet',
    read: ({ messages }) => messages.pending,
  },
  oldest_pending_notification_timestamp_seconds: {
    help: 'When the oldest of them was raised, in seconds since 1970',
    read: ({ messages: { pendingSince } }) => pendingSince && pendingSince / 1000,
  },
  given_up_notifications: {
    help: 'Notifications that were given up after their last attempt, with those that were perhaps received',
    read: ({ messages }) => messages.givenUp + messages.perhapsReceived,
  },
  mappings_in_step_timestamp_seconds: {
    help: 'Up to when the local copy of the mappings holds all changes, in seconds since 1970',
    read: ({ mappingsReach }) => mappingsReach && mappingsReach / 1000,
  },
  canaries_missed_in_row: {
    help: 'Canaries in a row that no e-mail named in time, up to the newest: 0 when that one was named',
    read: ({ missedCanaries }) => missedCanaries,
  },
  oldest_guest_name_age_days: {
    help: 'Age of the oldest guest name that is kept, by place',
    label: 'place',
    read: ({ names }) => Object.fromEntries(names.map(({ place, ageDays }) => [place, ageDays])),
  },
};

/** In seconds since 1970. */
function endOfDay(day: string | undefined, timezone: string): number | undefined {
  if (day === undefined) return undefined;
  return Math.floor((createBusinessDay(day, timezone).lastInstant.getTime() + 1) / 1000);
}

/** Shows what the ledger says as gauges. */
export function createLedgerGauges(registry: Registry, timezone: string) {
  const create = (name: string, help: string, label?: string) =>
    new Gauge({
      name: `hotel_review_${name}`,
      help,
      labelNames: label === undefined ? [] : [label],
      registers: [registry],
    });
  const isUp = create('ledger_up', 'Whether the ledger answered: 1 or 0');
  const gauges = Object.entries(ledgerGauges).map(([name, { help, label, read }]) => ({
    label,
    read,
    gauge: create(name, help, label),
  }));

  return {
    /** @param facts undefined while the ledger is away: then all are absent rather than outdated */
    show(facts: LedgerFacts | undefined, names: NameAges, now: number): void {
      isUp.set(facts ? 1 : 0);
      const shown = facts && { ...facts, names, now, timezone };
      for (const { gauge, label, read } of gauges) {
        const says = shown && read(shown);
        if (label === undefined) gauge.remove();
        else gauge.reset();
        if (typeof says === 'number') gauge.set(says);
        else
          for (const [value, count] of says instanceof Map ? says : Object.entries(says ?? {}))
            gauge.set({ [label ?? '']: value }, count);
      }
    },
  };
}
