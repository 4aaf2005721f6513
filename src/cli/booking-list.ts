import { guestNameFields, serviceFields } from '../booking/booking.js';
import { describeCheckIn, isInHouse } from '../booking/stay.js';
import type { CasedBooking } from '../cases/booked-cases.js';
import { adviseLoad, explainCopies, nameCopy } from '../mappings/copied-hotels.js';
import { pairColumns, toPairCells, toPairReport } from '../mappings/hotels/shown-hotels.js';
import { describeWhy } from '../report/describe-booking.js';
import { stayOf } from '../review/verdicts/booked-hotels.js';
import type { Why } from '../review/verdicts/listing.js';
import { formatCount } from '../text/format.js';
import type { WriteCommand } from '../text/shell.js';
import { renderTable } from '../text/tables.js';
import { renderPair } from './hotel-pair.js';
import { toKeptRow } from './kept-columns.js';

/** Rows shown on a terminal; `--csv` and `--json` list all. */
export const shown = 200;

/** A list of bookings, whatever they have in common. */
export interface ShownBookings {
  readonly count: number;
  /** The first of them: at least as many as are shown. */
  readonly bookings: readonly CasedBooking[];
  /** Whether they are of several days. */
  readonly isRange: boolean;
  /** Whether their mappings are doubted: then their hotels are shown side by side. */
  readonly areDoubted: boolean;
  /** Whether a content file was ever loaded. */
  readonly hasHotels: boolean;
  /** The kept columns to show. */
  readonly keptLabels: readonly string[];
  /** YYYY-MM-DD, in the account's zone. */
  readonly today: string;
}

const unknown = '-';
const legend = '  booked, copy: ServiceId of the booking, and in the local copy of the mappings';

/** A table of the first bookings, with what is known about each below its row. */
export function renderBookings(list: ShownBookings, command: WriteCommand): string[] {
  const { count, areDoubted, hasHotels } = list;
  const bookings = list.bookings.slice(0, shown);
  if (bookings.length === 0) return [];
  const columns = listColumns(list);
  const rows = bookings.map((booking) => columns.map(({ cell }) => cell(booking)));
  const head = columns.map(({ name }) => name);
  const [names = '', ...lines] = renderTable([...rows], head).split('\n');
  return [
    names,
    ...bookings.flatMap((booking, index) => [lines[index] ?? '', ...renderDetails(booking, list)]),
    legend,
    ...explainCopies(bookings).map((line) => `  ${line}`),
    ...(areDoubted && !hasHotels ? adviseLoad(command) : []),
    ...(count > shown ? [`  … and ${formatCount(count - shown)} more; --csv FILE lists all`] : []),
  ];
}

interface Column {
  readonly name: string;
  readonly cell: (booking: CasedBooking) => string;
}

function listColumns({ bookings, isRange, keptLabels }: ShownBookings): Column[] {
  const field = (name: string, of: string): Column => ({
    name,
    cell: ({ fields }) => String(fields[of] ?? unknown),
  });
  return [
    field('booking', 'BookingReferenceId'),
    ...(isRange ? [{ name: 'day', cell: ({ day }: CasedBooking) => day }] : []),
    field('check-in', 'CheckInDate'),
    field('check-out', 'CheckOutDate'),
    field('provider', 'ProviderName'),
    field('hotel id', 'ProviderHotelId'),
    field('booked', 'ServiceId'),
    { name: 'copy', cell: (booking) => nameCopy(booking, unknown) },
    ...(bookings.some(describeWhy)
      ? [{ name: 'why', cell: (one: CasedBooking) => describeWhy(one) ?? unknown }]
      : []),
    ...(bookings.some(({ step }) => step) ? [{ name: 'step', cell: ({ step = unknown }: Why) => step }] : []),
    ...keptLabels.map((label) => ({
      name: label,
      cell: ({ kept }: CasedBooking) => toKeptRow([label], kept).join(''),
    })),
  ];
}

/** What is below the row of a booking: where its guest is now, its two hotels and its case, as far as known. */
function renderDetails(
  { hotels, fields, copyServiceId, copy, case: found }: CasedBooking,
  { areDoubted, hasHotels, today }: ShownBookings,
): string[] {
  const stay = stayOf(fields);
  return [
    ...(isInHouse(stay, today) ? [`    guest:  ${describeCheckIn(stay, today)}`] : []),
    ...(areDoubted && hasHotels
      ? renderPair(hotels, { serviceId: Number(fields.ServiceId), copyServiceId, copy })
      : []),
    ...(found ? [`    case:   ${found.id}, its mapping is ${found.state}`] : []),
  ];
}

/** Why a booking is listed. Each list has some of them. */
const whyMembers = ['verdictReason', 'reason', 'field', 'movedAt', 'code', 'step'] as const;

/** The columns of `--csv`: all but guests' names. */
export function listCsvColumns({ isRange, keptLabels }: Pick<ShownBookings, 'isRange' | 'keptLabels'>) {
  return [
    ...(isRange ? ['day'] : []),
    ...serviceFields.filter((field) => !guestNameFields.has(field)),
    ...['copyServiceId', 'copy', 'caseId', 'caseState', 'runId', ...whyMembers],
    ...keptLabels,
    ...pairColumns,
  ];
}

/** A booking under the names that `--json` uses. */
export function toRecord(booking: CasedBooking, isRange: boolean): Record<string, unknown> {
  const { kept, hotels } = booking;
  return { ...toCommonRecord(booking, isRange), ...(kept && { kept }), ...toPairReport(hotels) };
}

/** A booking under the columns of `--csv`. */
export function toCells(booking: CasedBooking, isRange: boolean): Record<string, unknown> {
  return { ...booking.kept, ...toCommonRecord(booking, isRange), ...toPairCells(booking.hotels) };
}

function toCommonRecord(booking: CasedBooking, isRange: boolean): Record<string, unknown> {
  const { day, runId, fields, copyServiceId, copy, case: found } = booking;
  const why = whyMembers.flatMap((name) => (booking[name] === undefined ? [] : [[name, booking[name]]]));
  return {
    ...(isRange && { day }),
    ...fields,
    ...{ copyServiceId, copy },
    ...{ caseId: found?.id ?? null, caseState: found?.state ?? null, runId },
    ...Object.fromEntries(why),
  };
}
