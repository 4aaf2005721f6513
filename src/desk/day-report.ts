import {
  formatCount,
  formatCountOf,
  formatDuration,
  formatKilometres,
  formatLocalInstant,
} from '../base/format.js';
import { businessDayAt } from '../booking/business-day.js';
import { describeCheckIn, stayOf } from '../booking/stay.js';
import { findCases, type ListedCase, nameCheckIn } from '../cases/shown-cases.js';
import type { Config } from '../config/load.js';
import type { ReadOnlyLedger } from '../ledger/ledger.js';
import { explainCopies, nameCopy } from '../mappings/copied-hotels.js';
import { readDescription, readReport } from '../review/day/report.js';
import { type ListedBooking, listBookings } from '../review/verdicts/listing.js';
import type { Finding, Note } from '../rules/finding.js';
import { chooseCompared, daysToCompare, listProviderVolumes, usualOf } from '../rules/volume.js';

/** Of a day: more than any has. */
export const runsRead = 1_000;
/** Runs shown; a day can have dozens of runs of today without news. */
const runsShown = 20;
/** Bookings and cases shown; the commands list all. */
const listed = 100;
/** The others are in the JSON. */
const providersShown = 20;

/**
 * How a day went: `report` as `report D --json` prints it and as pages show it, with the cases that are open now, and those that were never
 * resolved. It holds references and stays of affected bookings, and no guest's name; null stands for unknown.
 */
export async function gatherDayReport(
  { timezone, volume }: Config,
  ledger: ReadOnlyLedger,
  day: string,
  now: number,
) {
  const today = businessDayAt(new Date(now), timezone).iso;
  const runs = await ledger.runs.list({ day, limit: runsRead });
  const shown = runs.slice(0, runsShown);
  const described = await readDescription(ledger, day, runs, { now, timezone });
  const { outcome, canary, judgement, headline, state, findings } = described;
  const { knowledge, affected, unanswered, posted, latest: newest, sent } = outcome;
  const bookings = await listBookings(ledger, 'affected', sent, { today, clock: () => now });
  const first: ReturnType<typeof outlineBooking>[] = [];
  for await (const some of bookings.read({ from: 0, to: listed })) first.push(...some.map(outlineBooking));

  async function listCases(left: boolean) {
    const found = await findCases(ledger, { today, left }, now);
    return { count: found.length, first: found.slice(0, listed).map(outlineCase) };
  }

  const report = {
    /** YYYY-MM-DD */
    day,
    /** ISO 8601, UTC */
    writtenAt: new Date(now).toISOString(),
    ...{ judgement, headline },
    /** Newest first. */
    runs: await Promise.all(shown.map((run) => readReport(ledger, run, { now, timezone }))),
    /** Of all runs that sent the day. */
    verdicts: { knowledge, affected, unanswered, posted },
    /** The newest of the day. */
    canary: canary ?? null,
    /** Of the newest run. */
    rejects: newest ? await ledger.rejects.count(newest.id) : [],
    warnings: newest ? await ledger.rejects.countWarnings(newest.id) : [],
    volume: await compareVolume(day, ledger, volume),
    /** Of the newest run, in the order in which they began. */
    steps: newest ? await ledger.steps.listTimes(newest.id) : [],
    /** Guests in house and then the nearest check-in first. */
    affected: { count: bookings.count, first },
    /** All cases with an open booking, of any day. */
    cases: await listCases(false),
    /** All cases with a booking that nobody resolved before the stay was over. */
    left: await listCases(true),
  };
  return { report, state, findings };
}

export type DayReport = Awaited<ReturnType<typeof gatherDayReport>>['report'];

async function compareVolume(day: string, ledger: ReadOnlyLedger, settings: Config['volume']) {
  const counted = await ledger.runs.findVolume(day);
  const good = await ledger.runs.listVolumes(daysToCompare(day, settings.exceptions));
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
export function outlineBooking(booking: ListedBooking) {
  const { fields } = booking;
  const text = (name: string) => (fields[name] === undefined ? null : String(fields[name]));
  return {
    reference: text('BookingReferenceId'),
    checkIn: text('CheckInDate'),
    checkOut: text('CheckOutDate'),
    providerName: text('ProviderName'),
    providerHotelId: text('ProviderHotelId'),
    /** As booked. */
    serviceId: Number(fields.ServiceId),
    ...outlineHotels(booking),
  };
}

/** What a list shows of a case. */
export function outlineCase(item: ListedCase) {
  const { id, state, openBookings, leftBookings, inHouse, inHouseUntil = null } = item;
  const { providerName, providerHotelId, serviceId, hasUnknownCheckIn, firstCheckIn = null } = item;
  return {
    ...{ id, state, openBookings, leftBookings, providerName, providerHotelId, serviceId },
    firstCheckIn: hasUnknownCheckIn && inHouse === 0 ? null : firstCheckIn,
    /** Open bookings of guests who are in house, and when the last of them checks out. */
    ...{ inHouse, inHouseUntil },
    ...outlineHotels(item),
  };
}

function outlineHotels({ copyServiceId, copy, hotels }: ListedBooking | ListedCase) {
  return {
    /** The master hotel that the local copy of the mappings has now. */
    copyServiceId,
    copy,
    bookedHotel: hotels.bookedHotel?.name ?? null,
    copyHotel: hotels.copyHotel?.name ?? null,
    distanceKm: hotels.distanceKm ?? null,
  };
}

/** A row of a table, by the names of its columns. Numbers are written with commas, so an id is a text. */
export type Cells = Readonly<Record<string, string | number>>;

export type Section = ReturnType<typeof listSections>[number];

/**
 * What the page and the terminal show, in this order, without empty sections. Texts are plain: each makes them safe where it writes
 * them.
 */
export function listSections(report: DayReport, findings: readonly Finding[], timezone: string) {
  const { day, runs, left, volume, rejects, steps, affected, cases } = report;
  const today = businessDayAt(new Date(report.writtenAt), timezone).iso;
  const counted = volume.accepted === null ? [] : [...volume.compared, { day, accepted: volume.accepted }];
  const sections = [
    toSection('Findings', [], findings),
    toSection(
      'Runs',
      runs.map((run) => {
        const { accepted, delivered, refused, rejected, pending } = run.counts;
        return {
          run: run.runId,
          by: `${run.delivery}, ${run.trigger}`,
          state: run.state,
          started: formatLocalInstant(Date.parse(run.startedAt), timezone),
          took: formatDuration(run.durationMs),
          ...{ accepted, delivered, refused, rejected, pending },
        };
      }),
      runs.flatMap(({ runId, error }) => (error ? { words: `${runId}: ${error.message}` } : [])),
    ),
    toSection(
      'Affected bookings',
      affected.first.map((item) => {
        const sent = { checkInDate: item.checkIn ?? undefined, checkOutDate: item.checkOut ?? undefined };
        const stay = stayOf(sent, day);
        const booking = item.reference ?? '-';
        return { 'check-in': describeCheckIn(stay, today), booking, ...toHotelCells(item) };
      }),
      [...adviseMore(affected, `affected ${day} --csv FILE`), ...explainCopy(affected.first)],
    ),
    toSection(
      'Open cases',
      cases.first.map((item) => ({
        'check-in': nameCheckIn(item),
        ...{ case: String(item.id), mapping: item.state, open: item.openBookings },
        ...toHotelCells(item),
      })),
      [{ words: describeOpen(cases) }, ...adviseMore(cases, 'cases --csv FILE'), ...explainCopy(cases.first)],
    ),
    toSection(
      'Never resolved before the guests left',
      left.first.map((item) => ({
        ...{ case: String(item.id), mapping: item.state, left: item.leftBookings },
        ...toHotelCells(item),
      })),
      left.count > 0
        ? [{ words: formatCountOf(left.count, 'case'), advice: [['to list them', 'cases --left']] }]
        : [],
    ),
    toSection(
      'Bookings',
      counted.map((one) => ({
        day: one.day === day ? `${day}, this day` : one.day,
        bookings: one.accepted,
      })),
      describeUsual(volume),
    ),
    toSection(
      'Providers, and what is usual',
      volume.providers.slice(0, providersShown).map(({ provider, accepted: bookings, usual }) => ({
        ...{ provider, bookings, usual: usual ?? '-' },
      })),
      volume.providers.length > providersShown
        ? [{ words: `the ${providersShown} largest of ${formatCount(volume.providers.length)}` }]
        : [],
    ),
    toSection(
      'Rejected, by reason',
      rejects.map(({ reason, count: records }) => ({ reason, records })),
      rejects.length > 0
        ? [{ words: 'of the newest run', advice: [['all of them', `rejected ${day} --csv FILE`]] }]
        : [],
    ),
    toSection(
      'Steps of the newest run',
      steps.map(({ kind: step, steps: count, attempts, startedAt, endedAt }) => ({
        ...{ step, count, attempts, time: formatDuration(endedAt - startedAt) },
      })),
    ),
  ];
  return sections.filter(({ notes, rows }) => notes.length + rows.length > 0);
}

function toSection(title: string, rows: readonly Cells[], notes: readonly Note[] = []) {
  return { title, rows, notes };
}

function describeOpen({ count, first }: DayReport['cases']): string {
  if (count === 0) return 'none';
  const bookings = first.reduce((sum, { openBookings }) => sum + openBookings, 0);
  const open = count > first.length ? '' : ` with ${formatCountOf(bookings, 'open booking')}`;
  return `${formatCountOf(count, 'case')}${open}`;
}

/** A list that is cut, and how to have all of it. */
function adviseMore({ count, first }: DayReport['affected' | 'cases'], list: string): Note[] {
  if (count <= first.length) return [];
  return [{ words: `the first ${formatCount(first.length)} are below`, advice: [['all of them', list]] }];
}

function explainCopy(listed: DayReport['affected' | 'cases']['first']): Note[] {
  return explainCopies(listed).map((words) => ({ words }));
}

function toHotelCells(item: DayReport['affected' | 'cases']['first'][number]): Cells {
  const { copyServiceId, serviceId, distanceKm } = item;
  const isSame = copyServiceId === serviceId;
  return {
    provider: item.providerName ?? '-',
    'hotel id': item.providerHotelId ?? '-',
    booked: String(serviceId),
    'booked hotel': item.bookedHotel ?? '-',
    copy: nameCopy(item, 'none'),
    'hotel of the copy': isSame ? 'the same' : (item.copyHotel ?? '-'),
    distance: isSame || distanceKm === null ? '-' : formatKilometres(distanceKm),
  };
}

function describeUsual({ accepted, usual, isOfWeekday }: DayReport['volume']): Note[] {
  if (accepted === null) return [];
  const usually =
    usual === null ? '' : `, usually ${formatCount(usual)}${isOfWeekday ? ' on this weekday' : ''}`;
  return [{ words: `${formatCountOf(accepted, 'booking')}${usually}` }];
}
