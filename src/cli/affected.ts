import { guestNameFields, serviceFields } from '../booking/booking.js';
import { describeCheckIn, isInHouse } from '../booking/stay.js';
import type { CasedBooking } from '../cases/booked-cases.js';
import { explainCopies, nameCopy } from '../mappings/copied-hotels.js';
import { pairColumns, toPairCells, toPairReport } from '../report/hotels.js';
import { stayOf } from '../review/verdicts/booked-hotels.js';
import type { DayVerdicts } from '../review/verdicts/day-verdicts.js';
import { formatCount, formatCountOf } from '../text/format.js';
import type { WriteCommand } from '../text/shell.js';
import { renderPair } from './hotel-pair.js';
import { adviseLoad } from './hotels.js';
import { toKeptRow } from './kept-columns.js';
import { renderTable } from './tables.js';

/** Rows shown on a terminal; `--csv` and `--json` list all. */
export const shown = 200;

const legend = '  booked, copy: ServiceId of the booking, and in the local copy of the mappings';

/** What `affected` lists. */
export interface VerdictListing {
  /** One day, or the days of a range. */
  readonly days: readonly DayVerdicts[];
  readonly isRange: boolean;
  readonly lists: 'affected' | 'unanswered';
  readonly count: number;
  /** The first of the listed bookings: at least as many as are shown. */
  readonly bookings: readonly CasedBooking[];
  /** Whether a content file was ever loaded. */
  readonly hasHotels: boolean;
  readonly checkInBefore?: string | undefined;
  /** The kept columns to show; none by default. */
  readonly keptLabels?: readonly string[];
  /** YYYY-MM-DD, in the account's zone. */
  readonly today: string;
}

interface ListingOptions {
  readonly command: WriteCommand;
  readonly csv?: string | undefined;
}

/** The affected bookings of a day or a range, or those without a verdict, or why none are known. */
export function renderVerdicts(listing: VerdictListing, { command, csv }: ListingOptions): string {
  const { days, isRange, bookings, count } = listing;
  const [only] = days;
  const head = isRange || !only ? describeRange(listing) : describeDay(only, listing);
  const first = bookings.slice(0, shown);
  return [
    head,
    ...(first.length > 0 ? renderRows(first, listing, command) : []),
    ...(count > shown ? [`  … and ${formatCount(count - shown)} more; --csv FILE lists all`] : []),
    ...(isRange ? renderDays(days) : describeNewer(days)),
    ...describeOthers(listing, command),
    ...(csv === undefined ? [] : [`All of them are in ${csv}.`]),
    '',
  ].join('\n');
}

/** Each booking as a row of a table and, for an affected one and once there is content, its two hotels below it. */
function renderRows(
  bookings: readonly CasedBooking[],
  listing: VerdictListing,
  command: WriteCommand,
): string[] {
  const rows = bookings.map((booking) => toRow(booking, listing));
  const [head = '', ...lines] = renderTable(rows, headOf(listing)).split('\n');
  const withDetails = (line: string, index: number): string[] => {
    const booking = bookings[index];
    return booking ? [line, ...renderDetails(booking, listing)] : [line];
  };
  const advice = listing.lists === 'affected' && !listing.hasHotels ? adviseLoad(command) : [];
  const unknownCopies = explainCopies(bookings).map((line) => `  ${line}`);
  return [head, ...lines.flatMap(withDetails), legend, ...unknownCopies, ...advice];
}

/** What is below the row of a booking: where its guest is now, its two hotels and its case, as far as known. */
function renderDetails(
  { hotels, fields, copyServiceId, copy, case: found }: CasedBooking,
  { lists, hasHotels, today }: VerdictListing,
): string[] {
  const isShowingHotels = lists === 'affected' && hasHotels;
  const stay = stayOf(fields);
  return [
    ...(isInHouse(stay, today) ? [`    guest:  ${describeCheckIn(stay, today)}`] : []),
    ...(isShowingHotels
      ? renderPair(hotels, { serviceId: Number(fields.ServiceId), copyServiceId, copy })
      : []),
    ...(found ? [`    case:   ${found.id}, its mapping is ${found.state}`] : []),
  ];
}

function describeRange(listing: VerdictListing): string {
  const { days, count, lists } = listing;
  const what = lists === 'affected' ? 'affected bookings' : 'bookings without a verdict';
  const range = `${days.at(0)?.day} to ${days.at(-1)?.day}`;
  const isKnown = days.some(({ knowledge }) => knowledge === 'judged' || knowledge === 'nothing-sent');
  if (lists === 'affected' && !isKnown) return `${range}: no result is known.`;
  return `${range}: ${what}${describeFilter(listing)}: ${formatCount(count)}`;
}

function describeDay(verdicts: DayVerdicts, listing: VerdictListing): string {
  const { day, knowledge, runs } = verdicts;
  const [run] = runs;
  switch (knowledge) {
    case 'no-run':
      return `There is no run of ${day}.`;
    case 'nothing-sent':
      return `${day}: nothing was sent for review, as there were no bookings (run ${run?.id}).`;
    case 'by-email':
      return `${day} went by body: its verdicts come by e-mail only (run ${run?.id}, ${run?.state}).`;
    case 'awaiting-result':
      return `No result of ${day} has arrived yet: run ${run?.id} is ${run?.state}.`;
    case 'judged':
      return describeJudged(verdicts, listing);
  }
}

function describeJudged({ day, runs, unanswered }: DayVerdicts, listing: VerdictListing): string {
  const { count, lists } = listing;
  const run = `(run ${runs[0]?.id})`;
  const filter = describeFilter(listing);
  if (count > 0) {
    const what = lists === 'affected' ? 'affected bookings' : 'bookings without a verdict';
    return `${day}: ${what}${filter}: ${formatCount(count)} ${run}`;
  }
  if (lists === 'unanswered')
    return `${day}: no booking of the file${filter} is listed without a verdict ${run}.`;
  const doubt = unanswered === 0 ? '' : ', but some have no verdict';
  return `${day}: the result marks no booking${filter} as affected${doubt} ${run}.`;
}

function describeFilter({ checkInBefore }: VerdictListing): string {
  return checkInBefore === undefined ? '' : ` with check-in before ${checkInBefore}`;
}

function describeNewer(days: readonly DayVerdicts[]): string[] {
  return days.flatMap(({ newer }) =>
    newer
      ? [`This is the latest result. Run ${newer.id} is newer (by ${newer.delivery}, ${newer.state}).`]
      : [],
  );
}

const unknown = { affected: 'unknown', byEmail: 'by e-mail', none: '-' } as const;

function renderDays(days: readonly DayVerdicts[]): string[] {
  const rows = days.map(({ day, knowledge, runs, affected, unanswered, posted }) => [
    day,
    nameAffected(knowledge, affected),
    unanswered === null ? unknown.none : formatCount(unanswered),
    knowledge === 'by-email' ? 'all' : formatCount(posted),
    knowledge === 'no-run' ? 'no run' : runs[0]?.id,
  ]);
  return ['by day:', renderTable(rows, ['day', 'affected', 'no verdict', 'by e-mail only', 'run'])];
}

function nameAffected(knowledge: DayVerdicts['knowledge'], affected: number | null): string {
  switch (knowledge) {
    case 'judged':
      return affected === null ? unknown.affected : formatCount(affected);
    case 'nothing-sent':
      return 'none sent';
    case 'by-email':
      return unknown.byEmail;
    case 'awaiting-result':
      return 'no result';
    case 'no-run':
      return unknown.none;
  }
}

/** How many bookings the list says nothing about. */
function describeOthers(
  { days, isRange, lists, count, checkInBefore }: VerdictListing,
  command: WriteCommand,
): string[] {
  const unanswered = days.reduce((sum, day) => sum + (day.unanswered ?? 0), 0);
  const posted = days.reduce((sum, day) => sum + day.posted, 0);
  const hasFile = days.some((day) => day.unanswered !== null);
  const range = isRange ? `--from ${days.at(0)?.day} --to ${days.at(-1)?.day}` : `${days.at(0)?.day}`;
  const lines: string[] = [];
  if (hasFile && !isRange && unanswered === 0) lines.push('Every booking of the file has a verdict.');
  if (unanswered > 0)
    lines.push(
      `${formatCountOf(unanswered, 'booking')} of the file without a verdict` +
        (lists === 'affected' ? `; to list them: ${command(`affected ${range} --unanswered`)}` : '.'),
    );
  const unlisted = unanswered - count;
  if (lists === 'unanswered' && checkInBefore === undefined && unlisted > 0)
    lines.push(
      `${formatCount(unlisted)} of them can't be listed: an older version counted them, but did not record which they are.`,
    );
  if (posted > 0) lines.push(`${formatCount(posted)} went by body: their verdicts come by e-mail only.`);
  else if (hasFile && !isRange) lines.push('None went by body.');
  return lines;
}

function headOf({ isRange, lists, keptLabels = [] }: VerdictListing): string[] {
  return [
    'booking',
    ...(isRange ? ['day'] : []),
    'check-in',
    'check-out',
    'provider',
    'hotel id',
    'booked',
    'copy',
    ...(lists === 'unanswered' ? ['reason'] : []),
    ...keptLabels,
  ];
}

function toRow(
  { day, fields, copyServiceId, copy, verdictReason, kept }: CasedBooking,
  { isRange, lists, keptLabels = [] }: VerdictListing,
): string[] {
  const cell = (name: string) => String(fields[name] ?? unknown.none);
  return [
    cell('BookingReferenceId'),
    ...(isRange ? [day] : []),
    cell('CheckInDate'),
    cell('CheckOutDate'),
    cell('ProviderName'),
    cell('ProviderHotelId'),
    cell('ServiceId'),
    nameCopy({ copyServiceId, copy }, unknown.none),
    ...(lists === 'unanswered' ? [verdictReason ?? unknown.none] : []),
    ...toKeptRow(keptLabels, kept),
  ];
}

/** The columns of `--csv`: all but guests' names. */
export function listingColumns({
  isRange,
  lists,
  keptLabels = [],
}: Pick<VerdictListing, 'isRange' | 'lists' | 'keptLabels'>): string[] {
  return [
    ...(isRange ? ['day'] : []),
    ...serviceFields.filter((field) => !guestNameFields.has(field)),
    'copyServiceId',
    'copy',
    ...(lists === 'unanswered' ? ['verdictReason'] : []),
    ...['caseId', 'caseState'],
    ...keptLabels,
    ...pairColumns,
  ];
}

/** A booking under the names that `--json` uses. */
export function toListedRecord(
  booking: CasedBooking,
  listing: Pick<VerdictListing, 'isRange'>,
): Record<string, unknown> {
  const { kept, hotels } = booking;
  return { ...toCommonRecord(booking, listing), ...(kept && { kept }), ...toPairReport(hotels) };
}

/** A booking under the columns of `--csv`. */
export function toListedCells(
  booking: CasedBooking,
  listing: Pick<VerdictListing, 'isRange'>,
): Record<string, unknown> {
  return { ...booking.kept, ...toCommonRecord(booking, listing), ...toPairCells(booking.hotels) };
}

function toCommonRecord(
  { day, fields, copyServiceId, copy, verdictReason, case: found }: CasedBooking,
  { isRange }: Pick<VerdictListing, 'isRange'>,
): Record<string, unknown> {
  return {
    ...(isRange && { day }),
    ...fields,
    ...{ copyServiceId, copy, caseId: found?.id ?? null, caseState: found?.state ?? null },
    ...(verdictReason && { verdictReason }),
  };
}
