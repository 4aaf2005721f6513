import {
  formatCount,
  formatCountOf,
  formatDuration,
  formatKilometres,
  formatLocalInstant,
} from '../base/format.js';
import type { WriteCommand } from '../base/shell.js';
import { businessDayAt } from '../booking/business-day.js';
import { describeCheckIn, stayOf } from '../booking/stay.js';
import { findCases, type ListedCase, nameCheckIn } from '../cases/shown-cases.js';
import type { Config } from '../config/load.js';
import { canaryToJson } from '../ledger/canaries.js';
import type { ReadOnlyLedger } from '../ledger/ledger.js';
import { explainCopies, nameCopy } from '../mappings/copied-hotels.js';
import { describeCanary } from '../review/canary.js';
import { readReport } from '../review/day/report.js';
import { judgeRuns } from '../review/outcome/day-outcome.js';
import { type ListedBooking, listBookings } from '../review/verdicts/listing.js';
import { judgeCanary } from '../rules/canary.js';
import { judgeDay } from '../rules/good-day.js';
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
 * How a day went, as `report D --json` prints it and as pages show it, with the cases that are open now, and those that were never
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
  const outcome = await judgeRuns(ledger, day, runs);
  const { knowledge, affected, unanswered, posted, latest: newest, sent } = outcome;
  const [canary] = await ledger.canaries.list({ day, limit: 1 });
  const bookings = await listBookings(ledger, 'affected', sent, { today, clock: () => now });
  const first: ReturnType<typeof outlineBooking>[] = [];
  for await (const some of bookings.read({ from: 0, to: listed })) first.push(...some.map(outlineBooking));

  async function listCases(left: boolean) {
    const found = await findCases(ledger, { today, left }, now);
    return { count: found.length, first: found.slice(0, listed).map(outlineCase) };
  }

  return {
    /** YYYY-MM-DD */
    day,
    /** ISO 8601, UTC */
    writtenAt: new Date(now).toISOString(),
    ...judgeDay(outcome, { timezone, canary: canary && judgeCanary(canary, now) }),
    /** Newest first. */
    runs: await Promise.all(shown.map((run) => readReport(ledger, run, { now, timezone }))),
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
    /** Guests in house and then the nearest check-in first. */
    affected: { count: bookings.count, first },
    /** All cases with an open booking, of any day. */
    cases: await listCases(false),
    /** All cases with a booking that nobody resolved before the stay was over. */
    left: await listCases(true),
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

type Note = string | false | 0 | null | undefined;

/** A row of a table, by the names of its columns. Numbers are written with commas, so an id is a text. */
export type Cells = Readonly<Record<string, string | number>>;

interface SectionOptions {
  readonly timezone: string;
  readonly command: WriteCommand;
}

export type Section = ReturnType<typeof listSections>[number];

/**
 * What the page and the terminal show, in this order, without empty sections. Texts are plain: each makes them safe where it writes
 * them.
 */
export function listSections(report: DayReport, options: SectionOptions) {
  const { day, runs, left, volume, rejects, steps, affected, cases } = report;
  const { command, timezone } = options;
  const today = businessDayAt(new Date(report.writtenAt), timezone).iso;
  const counted = volume.accepted === null ? [] : [...volume.compared, { day, accepted: volume.accepted }];
  const sections = [
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
      runs.map(({ runId, error }) => error && `${runId}: ${error.message}`),
    ),
    toSection(
      'Verdicts',
      affected.first.map((item) => {
        const sent = { checkInDate: item.checkIn ?? undefined, checkOutDate: item.checkOut ?? undefined };
        const stay = stayOf(sent, day);
        const booking = item.reference ?? '-';
        return { 'check-in': describeCheckIn(stay, today), booking, ...toHotelCells(item) };
      }),
      describeVerdicts(report, options),
    ),
    toSection(
      'Open cases',
      cases.first.map((item) => ({
        'check-in': nameCheckIn(item),
        ...{ case: String(item.id), mapping: item.state, open: item.openBookings },
        ...toHotelCells(item),
      })),
      describeCases(report, options),
    ),
    toSection(
      'Never resolved before the guests left',
      left.first.map((item) => ({
        ...{ case: String(item.id), mapping: item.state, left: item.leftBookings },
        ...toHotelCells(item),
      })),
      [left.count > 0 && `to list them: ${command('cases --left')}`],
    ),
    toSection(
      'Bookings',
      counted.map((one) => ({
        day: one.day === day ? `${day}, this day` : one.day,
        bookings: one.accepted,
      })),
      [describeVolume(report)],
    ),
    toSection(
      'Providers, and what is usual',
      volume.providers.slice(0, providersShown).map(({ provider, accepted: bookings, usual }) => ({
        ...{ provider, bookings, usual: usual ?? '-' },
      })),
      [
        volume.providers.length > providersShown &&
          `the ${providersShown} largest of ${formatCount(volume.providers.length)}`,
      ],
    ),
    toSection(
      'Rejected, by reason',
      rejects.map(({ reason, count: records }) => ({ reason, records })),
      [rejects.length > 0 && `all of them: ${command(`rejected ${day} --csv FILE`)}`],
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

/** @param notes those that say nothing are left out */
function toSection(title: string, rows: readonly Cells[], notes: readonly Note[] = []) {
  return { title, rows, notes: notes.filter((note) => typeof note === 'string') };
}

function describeVerdicts({ day, verdicts, affected, canary, runs }: DayReport, options: SectionOptions) {
  const { command } = options;
  const { knowledge, unanswered, posted } = verdicts;
  const isKnown = knowledge === 'judged';
  const isSent = runs.some(({ counts }) => counts.delivered > 0);
  return [
    isKnown && `${formatCountOf(affected.count, 'booking')} on an incorrect mapping`,
    !isKnown && runs.length > 0 && !isSent && 'nothing was delivered: there is no verdict',
    isSent && knowledge === 'awaiting-result' && 'the result has not arrived yet: no verdict is known',
    isSent && knowledge === 'by-email' && 'verdicts come by e-mail only: none is known to be correct',
    isKnown &&
      unanswered &&
      `${formatCountOf(unanswered, 'booking')} without a verdict: ${command(`affected ${day} --unanswered`)}`,
    isKnown &&
      posted > 0 &&
      `${formatCountOf(posted, 'booking')} went by body: their verdicts come by e-mail only`,
    canary && describeCanary(canary, options),
    adviseMore(affected, command(`affected ${day} --csv FILE`)),
    ...explainCopies(affected.first),
  ];
}

function describeCases({ cases }: DayReport, { command }: SectionOptions) {
  const { count, first } = cases;
  if (count === 0) return ['none'];
  const bookings = first.reduce((sum, { openBookings }) => sum + openBookings, 0);
  return [
    `${formatCountOf(count, 'case')}${count > first.length ? '' : ` with ${formatCountOf(bookings, 'open booking')}`}`,
    adviseMore(cases, command('cases --csv FILE')),
    ...explainCopies(first),
  ];
}

function adviseMore({ count, first }: DayReport['affected' | 'cases'], command: string) {
  return count > first.length && `the first ${formatCount(first.length)} are below; all of them: ${command}`;
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

function describeVolume({ runs, volume: { accepted, usual, isOfWeekday } }: DayReport): Note {
  if (accepted === null) return undefined;
  const bookings = formatCountOf(accepted, 'booking');
  if (usual !== null)
    return `${bookings}, usually ${formatCount(usual)}${isOfWeekday ? ' on this weekday' : ''}`;
  const isCompared = runs.some(({ volume }) => volume !== null);
  return `${bookings}, not compared${isCompared ? ': no earlier day is known' : ''}`;
}
