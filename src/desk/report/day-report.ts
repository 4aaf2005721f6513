import { businessDayAt } from '../../booking/business-day.js';
import { findCases, type ListedCase } from '../../cases/shown-cases.js';
import type { Config } from '../../config/load.js';
import { canaryToJson, judgeCanary } from '../../ledger/canaries.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { CopiedHotel } from '../../mappings/copied-hotels.js';
import type { HotelPair } from '../../mappings/hotels/compare-hotels.js';
import { judgeDay } from '../../review/day/good-day.js';
import { readReport } from '../../review/day/report.js';
import { chooseCompared, daysToCompare, listProviderVolumes, usualOf } from '../../review/gates.js';
import { summariseVerdicts } from '../../review/verdicts/day-verdicts.js';
import { type ListedBooking, listBookings } from '../../review/verdicts/listing.js';

const runsRead = 1_000;
/** Runs shown; a day can have dozens of runs of today without news. */
const runsShown = 20;
/** Bookings and cases shown; the commands list all. */
const listed = 100;

/**
 * How a day went, as `report D --json` prints it and as pages show it, with the cases that are open now, and those that were never
 * resolved. It holds references and stays of affected bookings, and no guest's name; null stands for unknown.
 */
export async function gatherDayReport(
  { timezone, volume }: Pick<Config, 'timezone' | 'volume'>,
  ledger: ReadOnlyLedger,
  day: string,
  now: number,
) {
  const today = businessDayAt(new Date(now), timezone).iso;
  const runs = await ledger.runs.list({ day, limit: runsRead });
  const verdicts = summariseVerdicts(day, runs);
  const { knowledge, affected, unanswered, posted } = verdicts;
  const newest = verdicts.newer ?? verdicts.runs[0];
  const [canary] = await ledger.canaries.list({ day, limit: 1 });

  /** The first of a list, guests in house and then the nearest check-in first, and how many there are. */
  async function listAffected() {
    const list = await listBookings(ledger, 'affected', verdicts.runs, { today, clock: () => now });
    const first = [];
    for await (const bookings of list.read({ from: 0, to: listed }))
      first.push(...bookings.map(outlineToJson));
    return { count: list.count, first };
  }

  async function listCases(which: 'open' | 'left') {
    const found = await findCases(ledger, { today, left: which === 'left' }, now);
    return { count: found.length, first: found.slice(0, listed).map(outlineCase) };
  }

  return {
    /** YYYY-MM-DD */
    day,
    /** ISO 8601, UTC */
    writtenAt: new Date(now).toISOString(),
    ...judgeDay(verdicts, { timezone, canary: canary && judgeCanary(canary, now) }),
    /** Newest first. */
    runs: await Promise.all(
      runs.slice(0, runsShown).map((run) => readReport(ledger, run, { now, timezone })),
    ),
    /** Of all runs that sent the day. */
    verdicts: { knowledge, affected, unanswered, posted },
    /** The newest of the day. */
    canary: canary ? canaryToJson(canary, now) : null,
    /** Of the newest run. */
    rejects: newest ? await ledger.rejects.count(newest.id) : [],
    warnings: newest ? await ledger.rejects.countWarnings(newest.id) : [],
    volume: await compareVolume(day, ledger, volume),
    /** Of the newest run, in the order in which they began. */
    steps: newest ? await ledger.steps.listTimes(newest.id) : [],
    affected: await listAffected(),
    /** All cases with an open booking, of any day. */
    cases: await listCases('open'),
    /** All cases with a booking that nobody resolved before the stay was over. */
    left: await listCases('left'),
  };
}

export type DayReport = Awaited<ReturnType<typeof gatherDayReport>>;

async function compareVolume(day: string, ledger: ReadOnlyLedger, settings: Config['volume']) {
  const counted = await ledger.runs.findVolume(day);
  const good = await ledger.runs.listVolumes(daysToCompare(day, settings));
  const { days: earlier, isOfWeekday } = chooseCompared(day, good);
  return {
    /** Null where the day was not counted. */
    accepted: counted?.accepted ?? null,
    /** Null if no day to compare with is known. */
    usual: usualOf(earlier.map(({ accepted }) => accepted)),
    /** The days below are of the same weekday. */
    isOfWeekday,
    /** The days that are compared with, oldest first. */
    compared: earlier
      .map(({ day: compared, accepted }) => ({ day: compared, accepted }))
      .sort((one, other) => (one.day < other.day ? -1 : 1)),
    /** Largest first. */
    providers: (counted ? listProviderVolumes(counted, earlier) : []).sort(
      (one, other) => (other.usual ?? other.accepted) - (one.usual ?? one.accepted),
    ),
  };
}

/** What a list shows of an affected booking, without the guest's name. */
export function outlineToJson({ fields, copyServiceId, copy, hotels }: ListedBooking) {
  const text = (name: string) => (fields[name] === undefined ? null : String(fields[name]));
  return {
    reference: text('BookingReferenceId'),
    checkIn: text('CheckInDate'),
    checkOut: text('CheckOutDate'),
    providerName: text('ProviderName'),
    providerHotelId: text('ProviderHotelId'),
    /** As booked. */
    serviceId: Number(fields.ServiceId),
    ...outlineHotels({ copyServiceId, copy }, hotels),
  };
}

function outlineCase(item: ListedCase) {
  const { id, state, openBookings, providerName, providerHotelId, serviceId, leftBookings, inHouse } = item;
  const { copyServiceId, copy, ...names } = outlineHotels(item, item.hotels);
  return {
    ...{
      id,
      state,
      openBookings,
      providerName,
      providerHotelId,
      serviceId,
      copyServiceId,
      copy,
      leftBookings,
    },
    firstCheckIn: item.hasUnknownCheckIn && inHouse === 0 ? null : (item.firstCheckIn ?? null),
    /** Open bookings of guests who are in house, and when the last of them checks out. */
    ...{ inHouse, inHouseUntil: item.inHouseUntil ?? null },
    ...names,
  };
}

function outlineHotels(
  { copyServiceId, copy }: CopiedHotel,
  { bookedHotel, copyHotel, distanceKm }: HotelPair,
) {
  return {
    /** The master hotel that the local copy of the mappings has now. */
    copyServiceId,
    copy,
    bookedHotel: bookedHotel?.name ?? null,
    copyHotel: copyHotel?.name ?? null,
    distanceKm: distanceKm ?? null,
  };
}
