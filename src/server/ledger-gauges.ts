import { Gauge, type Registry } from 'prom-client';
import { createBusinessDay } from '../booking/business-day.js';
import { countDaysBehind } from '../review/day/good-day.js';
import { endOfDay } from './last-good-day.js';
import type { LedgerFacts } from './ledger-facts.js';

/** A gauge as it is shown; what `read` finds undefined or null is absent. */
interface Described<Value> {
  /** Without the prefix. */
  readonly name: string;
  readonly help: string;
  read(facts: LedgerFacts, at: GaugeTime): Value | null | undefined;
}

type LedgerGauge =
  | (Described<number> & { readonly label?: undefined })
  /** One for each value of the label. */
  | (Described<Iterable<readonly [string, number]>> & { readonly label: string });

interface GaugeTime {
  readonly now: number;
  readonly timezone: string;
}

/*
 * An instant is given as such and not as an age, wherever that is possible: it stays true while nobody updates it, as in a
 * file that a run has written.
 */
const ledgerGauges: readonly LedgerGauge[] = [
  {
    name: 'last_good_day_timestamp_seconds',
    help: 'When the last business day whose bookings were reviewed was over, in seconds since 1970',
    read: ({ summary: { lastGoodDay } }, { timezone }) =>
      lastGoodDay === undefined ? undefined : endOfDay(lastGoodDay, timezone),
  },
  {
    name: 'last_good_day_age_days',
    help: "Days between yesterday and the last good day: 0 when yesterday's bookings were reviewed",
    read: ({ summary: { lastGoodDay } }, { now, timezone }) =>
      lastGoodDay === undefined ? undefined : countDaysBehind(lastGoodDay, now, timezone),
  },
  {
    name: 'runs',
    help: 'Runs that the ledger holds, by state',
    label: 'state',
    read: ({ summary }) => Object.entries(summary.runsByState),
  },
  {
    name: 'day_states',
    help: 'How many of the 14 days before today are in which state, by their newest run',
    label: 'state',
    read: ({ recentDays }) => Object.entries(recentDays),
  },
  {
    name: 'latest_day_timestamp_seconds',
    help: 'When the latest day, the newest before today that was collected, was over, in seconds since 1970',
    read: ({ latestDay }, { timezone }) => latestDay && endOfDay(latestDay.day, timezone),
  },
  {
    name: 'latest_day_records',
    help: 'Records of the source of the latest day, by outcome',
    label: 'outcome',
    read: ({ latestDay }) => latestDay && Object.entries(latestDay.records),
  },
  {
    name: 'latest_day_bookings',
    help: 'Accepted bookings of the latest day, by state',
    label: 'state',
    read: ({ latestDay }) => latestDay && Object.entries(latestDay.bookings),
  },
  {
    name: 'latest_day_provider_bookings',
    help: 'Accepted bookings of the latest day, by provider: the 20 largest, and the rest as other',
    label: 'provider',
    read: ({ latestDay }) => latestDay?.providers,
  },
  {
    name: 'latest_day_posted_bookings',
    help: 'Bookings of the latest day that went by body although the day went by file',
    read: ({ latestDay }) => latestDay?.posted,
  },
  {
    name: 'latest_day_affected_bookings',
    help: 'Bookings of the latest day whose mapping its result marks as incorrect',
    read: ({ latestDay }) => latestDay?.affected,
  },
  {
    name: 'latest_day_unanswered_bookings',
    help: 'Bookings of the latest day that went by file and have no verdict',
    read: ({ latestDay }) => latestDay?.unanswered,
  },
  {
    name: 'latest_day_suspect_bookings',
    help: 'Bookings of the latest day whose mapping differs from the local copy of the mappings',
    read: ({ latestDay }) => latestDay?.suspects,
  },
  {
    name: 'mapping_cases',
    help: 'Cases that the ledger holds, by the state of their mapping',
    label: 'state',
    read: ({ cases }) => Object.entries(cases.byState),
  },
  {
    name: 'open_case_bookings',
    help: 'Bookings of cases whose stay is not over and which nobody has settled, by what is known about their check-in',
    label: 'check_in',
    read: ({ cases: { openBookings, unknownCheckIns, inHouse } }) => [
      ['in-house', inHouse],
      ['known', openBookings - unknownCheckIns - inHouse],
      ['unknown', unknownCheckIns],
    ],
  },
  {
    name: 'nearest_open_check_in_timestamp_seconds',
    help: 'When the earliest check-in day of those bookings begins, in seconds since 1970; in the past while a guest is in house',
    read: ({ cases: { firstCheckIn } }, { timezone }) =>
      firstCheckIn === undefined
        ? undefined
        : createBusinessDay(firstCheckIn, timezone).firstInstant.getTime() / 1000,
  },
  {
    name: 'open_problems',
    help: 'Problems that people are told about and that are not over, by event',
    label: 'event',
    read: ({ problems }) => Object.entries(problems),
  },
  {
    name: 'pending_notifications',
    help: 'Notifications that no receiver has accepted yet',
    read: ({ messages }) => messages.pending,
  },
  {
    name: 'oldest_pending_notification_timestamp_seconds',
    help: 'When the oldest of them was raised, in seconds since 1970',
    read: ({ messages: { pendingSince } }) => pendingSince && pendingSince / 1000,
  },
  {
    name: 'given_up_notifications',
    help: 'Notifications that were given up after their last attempt',
    read: ({ messages }) => messages.givenUp,
  },
  {
    name: 'mappings_in_step_timestamp_seconds',
    help: 'Up to when the local copy of the mappings holds all changes, in seconds since 1970',
    read: ({ mappingsReach }) => mappingsReach && mappingsReach / 1000,
  },
  {
    name: 'canaries_missed_in_row',
    help: 'Canaries in a row that no e-mail named in time, up to the newest: 0 when that one was named',
    read: ({ missedCanaries }) => missedCanaries,
  },
];

interface NameAge {
  readonly place: string;
  readonly ageDays: number;
}

/** Shows what the ledger says as gauges. */
export interface LedgerGauges {
  /** @param facts undefined while the ledger is away: then all are absent rather than outdated */
  show(facts: LedgerFacts | undefined): void;
  /** The places that hold guest names, each with the age of its oldest. */
  showNames(found: readonly NameAge[]): void;
}

export function createLedgerGauges(
  registry: Registry,
  { clock, timezone }: { readonly clock: () => number; readonly timezone: string },
): LedgerGauges {
  const create = (name: string, help: string, labelNames: readonly string[] = []) =>
    new Gauge({ name: `hotel_review_${name}`, help, labelNames, registers: [registry] });
  const isUp = create('ledger_up', 'Whether the ledger answered: 1 or 0');
  const names = create('oldest_guest_name_age_days', 'Age of the oldest guest name that is kept, by place', [
    'place',
  ]);
  const gauges = ledgerGauges.map((described) => {
    const { name, help, label } = described;
    return { described, gauge: create(name, help, label === undefined ? [] : [label]) };
  });

  return {
    show(facts) {
      isUp.set(facts ? 1 : 0);
      const at = { now: clock(), timezone };
      for (const { gauge, described } of gauges) {
        if (described.label === undefined) {
          gauge.remove();
          const value = facts && described.read(facts, at);
          if (typeof value === 'number') gauge.set(value);
        } else {
          gauge.reset();
          const counts = facts && described.read(facts, at);
          for (const [value, count] of counts ?? []) gauge.set({ [described.label]: value }, count);
        }
      }
    },
    showNames(found) {
      names.reset();
      for (const { place, ageDays } of found) names.set({ place }, ageDays);
    },
  };
}
