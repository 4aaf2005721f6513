import type { ExtraValues } from '../../booking/extra-values.js';
import { type StayDates, stayOf, urgencyOf } from '../../booking/stay.js';
import { readBooking } from '../../booking/stored-line.js';
import { extraAt } from '../../ledger/batches.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import { type CopiedHotel, readCopiedHotels } from '../../mappings/copied-hotels.js';
import {
  type CompareHotels,
  createHotelComparer,
  type HotelPair,
  unknownPair,
} from '../../mappings/hotels/compare-hotels.js';
import type { Case, CaseKey } from '../../rules/case.js';
import type { SentRun } from '../../rules/day-outcome.js';
import type { Run } from '../../rules/run.js';
import { readNamelessFields, toFields } from '../stored/stored-line.js';
import { type ListedLines, type ListName, readList, type Why } from './listed-lines.js';
import { type ListWindow, type Ordered, orderByKey } from './order-by-key.js';

/** A booking as shown to people and programs. */
export interface ListedBooking extends CopiedHotel, Why {
  /** YYYY-MM-DD */
  readonly day: string;
  readonly runId: string;
  /** Under the service's names (spec 2.5), without the guest's name unless requested. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Its local columns, if requested. */
  readonly extraValues?: ExtraValues;
  readonly hotels: HotelPair;
  /** That of its provider hotel and master hotel, as booked. */
  readonly case?: Pick<Case, 'id' | 'state'> | undefined;
}

/** Bookings by how much they need help, guests in house first, however many. What is not in a window costs no look-up. */
export type BookingList = Ordered<ListedBooking>;

interface ListOptions {
  /** YYYY-MM-DD, in the account's zone. */
  readonly today: string;
  readonly clock: () => number;
  /** Only bookings whose check-in is before this day, or unknown: it might be tomorrow. */
  readonly checkInBefore?: string | undefined;
  /** Whether to read the extra columns. */
  readonly withExtra?: boolean;
  /** Whether the fields have the guest's name. */
  readonly withNames?: boolean;
}

/** As many as one look-up takes. */
const hotelsPerLookUp = 1_000;

/** Lists the bookings of runs that count, each with its hotels and its case. */
export async function listBookings(
  ledger: ReadOnlyLedger,
  name: ListName,
  sent: readonly SentRun[],
  options: ListOptions,
): Promise<BookingList> {
  const scan = async function* () {
    for await (const page of readList(ledger, name, sent)) yield toEntries(page, ledger, options);
  };
  const ordered = await orderByKey(scan, copyEntry);
  const compare = createHotelComparer({ hotels: ledger.hotels, clock: options.clock });
  return {
    count: ordered.count,
    async *read(window?: ListWindow) {
      for await (const entries of ordered.read(window))
        for (let from = 0; from < entries.length; from += hotelsPerLookUp) {
          const some = entries.slice(from, from + hotelsPerLookUp);
          yield lookUp(
            some.map((entry) => toBooking(entry, options)),
            ledger,
            compare,
          );
        }
    },
  };
}

/** A stored line, kept as text: a tenth of what its fields take. */
interface Entry {
  /** See `urgencyOf`. */
  readonly key: string;
  readonly run: Run;
  readonly line: string;
  readonly why: ReturnType<NonNullable<ListedLines['explain']>>;
  readonly extraValues: ExtraValues | undefined;
}

async function toEntries(
  page: ListedLines & { readonly run: Run },
  ledger: ReadOnlyLedger,
  { today, checkInBefore, withExtra }: ListOptions,
): Promise<Entry[]> {
  const { run, lines, rows, explain } = page;
  const extraValues = withExtra ? await readExtra(ledger, run, page) : [];
  return lines.flatMap((line, index) => {
    const stay = stayOf(readBooking(line), run.day);
    if (checkInBefore !== undefined && (stay.checkIn ?? '') >= checkInBefore) return [];
    const why = explain?.(line, rows[index] ?? -1);
    return [{ key: urgencyOf(stay, today), run, line, why, extraValues: extraValues[index] }];
  });
}

/** A line is a slice of its batch's text, and a slice keeps the whole text in memory. */
function copyEntry({ line, ...entry }: Entry): Entry {
  return { ...entry, line: Buffer.from(line).toString() };
}

/**
 * The extra values of each line. The file of a run that tops up includes bookings that earlier runs delivered; those
 * runs have their values.
 */
async function readExtra(
  ledger: ReadOnlyLedger,
  { id, topsUp }: Run,
  { stream, batch, rows, lines }: ListedLines,
): Promise<(ExtraValues | undefined)[]> {
  const columns = await ledger.bookings.readExtra(id, stream, batch);
  const extraValues = rows.map((row) => extraAt(columns, row));
  if (!topsUp) return extraValues;
  const references = lines.map((line) => readBooking(line).bookingReferenceId);
  const earlier = await ledger.bookings.findExtra(
    references.flatMap((reference, index) =>
      extraValues[index] || reference === undefined ? [] : [reference],
    ),
  );
  return extraValues.map((values, index) => values ?? earlier.get(references[index] ?? ''));
}

type Booking = Omit<ListedBooking, 'hotels' | 'case' | keyof CopiedHotel> & Partial<CopiedHotel>;

function toBooking({ run, line, why, extraValues }: Entry, { withNames }: ListOptions): Booking {
  return {
    day: run.day,
    runId: run.id,
    fields: withNames ? toFields(readBooking(line)) : readNamelessFields(line),
    ...why,
    ...(extraValues && { extraValues }),
  };
}

/** Adds the hotels and the case of each. */
async function lookUp(
  bookings: readonly Booking[],
  ledger: ReadOnlyLedger,
  compare: CompareHotels,
): Promise<ListedBooking[]> {
  const keys = bookings.map(toKey);
  // A suspect has the hotel that the copy had when it was compared.
  const areSuspects = bookings.every(({ copyServiceId }) => copyServiceId !== undefined);
  const copied = areSuspects ? [] : await readCopiedHotels(ledger.mappings, keys);
  const listed = bookings.map((booking, index) => ({
    ...{ copyServiceId: null, copy: 'unmapped' as const },
    ...copied[index],
    ...booking,
  }));
  const pairs = await compare(
    listed.map((booking) => ({
      serviceId: Number(booking.fields.ServiceId),
      copyServiceId: booking.copyServiceId,
      checkInDate: stayOfListed(booking).checkIn,
    })),
  );
  const cases = await ledger.cases.findByKeys(keys);
  return listed.map((booking, index) => ({
    ...booking,
    hotels: pairs[index] ?? unknownPair,
    case: cases[index],
  }));
}

/** The stay of a listed booking. */
export function stayOfListed({ fields, day }: Pick<ListedBooking, 'fields' | 'day'>): StayDates {
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  return stayOf({ checkInDate: text(fields.CheckInDate), checkOutDate: text(fields.CheckOutDate) }, day);
}

/** A booking without its provider's hotel finds nothing. */
function toKey({
  fields: { ProviderName = '', ProviderHotelId = '', ServiceId },
}: {
  readonly fields: ListedBooking['fields'];
}): CaseKey {
  return {
    providerName: String(ProviderName),
    providerHotelId: String(ProviderHotelId),
    serviceId: Number(ServiceId),
  };
}
