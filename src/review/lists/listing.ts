import { yieldToEventLoop } from '../../base/event-loop.js';
import { SafeError } from '../../base/safe-error.js';
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
} from '../../mappings/hotels/compare-hotels.js';
import type { Case, CaseKey } from '../../rules/case.js';
import type { SentRun } from '../../rules/day-outcome.js';
import type { Run } from '../../rules/run.js';
import { readNamelessFields, toFields } from '../stored/stored-line.js';
import { type ListedLines, type ListName, readList, type Why } from './listed-lines.js';

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
  readonly case?: Case | undefined;
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
  const keys = bookings.map((booking) => ({
    ...{ ...toKey(booking), checkInDate: stayOfListed(booking).checkIn },
    ...{ copyServiceId: booking.copyServiceId ?? null, copy: booking.copy ?? ('unmapped' as const) },
  }));
  // A suspect has the hotel that the copy had when it was compared.
  const areSuspects = bookings.every(({ copyServiceId }) => copyServiceId !== undefined);
  const compared = await compare(areSuspects ? keys : await readCopiedHotels(ledger.mappings, keys));
  const cases = await ledger.cases.findByKeys(keys);
  return compared.flatMap(({ copyServiceId, copy, hotels }, index) => {
    const booking = bookings[index];
    return booking ? [{ copyServiceId, copy, ...booking, hotels, case: cases[index] }] : [];
  });
}

/** The stay of a listed booking. */
export function stayOfListed({ fields, day }: Booking): StayDates {
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

/** More items are read in several passes. */
const usuallyAtOnce = 40_000;

/** Positions in a list: from the first one that is wanted to the one after the last. */
interface ListWindow {
  readonly from: number;
  readonly to: number;
}

/** Items in an order, without holding all of them. */
interface Ordered<Item> {
  readonly count: number;
  /** In order, in chunks; can be read more than once. Items outside the window are not held. */
  read(window?: ListWindow): AsyncIterable<readonly Item[]>;
}

/** The items as they come: in chunks, and in the same order on each call. */
type Scan<Item> = () => AsyncIterable<readonly Item[]>;

interface Keyed {
  readonly key: string;
}

/**
 * Orders any number of items in constant memory (but for the different keys) by a key such as a day. The first pass counts the items of
 * each key, so that a later one knows the rank of every item it meets and keeps those of its window only. Items with the same
 * key stay in their order.
 *
 * @param copy frees an item that is held from the chunk it came in
 * @param atOnce the most items held at once
 */
export async function orderByKey<Item extends Keyed>(
  scan: Scan<Item>,
  copy: (item: Item) => Item,
  atOnce = usuallyAtOnce,
): Promise<Ordered<Item>> {
  const { count, counts, held } = await countItems(scan, copy, atOnce);
  const few = held?.sort(compareKeys);
  const starts = rankKeys(counts);

  async function readWindow(window: ListWindow): Promise<Item[]> {
    const { seen, found } = await pickWindow(scan, copy, starts, window);
    if (seen !== count || found.length !== window.to - window.from) throw new ChangedListError();
    return found.sort(compareKeys);
  }

  return {
    count,
    async *read(window = { from: 0, to: count }) {
      const to = Math.min(window.to, count);
      if (few) yield few.slice(window.from, to);
      else
        for (let { from } = window; from < to; from += atOnce)
          yield readWindow({ from, to: Math.min(from + atOnce, to) });
    },
  };
}

/** Counts the items of each key, and holds all items as long as they are few. */
async function countItems<Item extends Keyed>(scan: Scan<Item>, copy: (item: Item) => Item, atOnce: number) {
  const counts = new Map<string, number>();
  let count = 0;
  let held: Item[] | undefined = [];
  for await (const items of scan()) {
    for (const { key } of items) counts.set(key, (counts.get(key) ?? 0) + 1);
    count += items.length;
    if (count > atOnce) held = undefined;
    for (const item of items) held?.push(copy(item));
    await yieldToEventLoop();
  }
  return { count, counts, held };
}

/** The rank of the first item of each key. */
function rankKeys(counts: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const starts = new Map<string, number>();
  let start = 0;
  for (const key of [...counts.keys()].sort()) {
    starts.set(key, start);
    start += counts.get(key) ?? 0;
  }
  return starts;
}

/** Reads all items again, and keeps those whose rank is in the window. */
async function pickWindow<Item extends Keyed>(
  scan: Scan<Item>,
  copy: (item: Item) => Item,
  starts: ReadonlyMap<string, number>,
  { from, to }: ListWindow,
) {
  const ranks = new Map(starts);
  const found: Item[] = [];
  let seen = 0;
  for await (const items of scan()) {
    seen += items.length;
    for (const item of items) {
      const rank = ranks.get(item.key);
      if (rank === undefined) throw new ChangedListError();
      ranks.set(item.key, rank + 1);
      if (rank >= from && rank < to) found.push(copy(item));
    }
    await yieldToEventLoop();
  }
  return { seen, found };
}

/** For a stable sort. */
function compareKeys({ key: a }: Keyed, { key: b }: Keyed): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Another process recorded a result between two passes. */
export class ChangedListError extends SafeError {
  override readonly name = 'ChangedListError';
  constructor() {
    super('the list changed while it was read, because a result was recorded: run the command again');
  }
}
