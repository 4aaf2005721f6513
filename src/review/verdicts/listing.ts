import type { KeptValues } from '../../booking/kept-values.js';
import { urgencyOf } from '../../booking/stay.js';
import { type CopiedHotel, type CopyReader, readCopiedHotels } from '../../mappings/copied-hotels.js';
import type { ProviderHotel } from '../../mappings/mapping-copy.js';
import { readStayDates } from '../file/review-line.js';
import type { History } from '../history.js';
import { type KeptColumnReader, keptAt } from '../kept-columns.js';
import type { BatchReader } from '../ledger.js';
import type { Run } from '../run.js';
import { readBooking, readFields, readNamelessFields } from '../stored/stored-line.js';
import { readStoredBatches, splitStoredLines } from '../stored-batches.js';
import { type Judged, type UnknownReason, unansweredReasons } from '../verdict.js';
import { type ListWindow, orderByKey } from './check-in-order.js';
import type { DayVerdicts } from './day-verdicts.js';

/** A booking of the file as shown to people and programs. */
export interface ListedBooking extends CopiedHotel {
  /** YYYY-MM-DD */
  readonly day: string;
  /** Under the service's names (spec 2.5), without the guest's name unless requested. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Why it has no verdict. */
  readonly verdictReason?: UnknownReason;
  /** Its local columns, if requested. */
  readonly kept?: KeptValues;
}

interface ListingLedger extends BatchReader, Pick<History, 'nextJudged'>, KeptColumnReader {
  readonly mappings: CopyReader;
}

/** A day and the runs that sent it. */
type SentDay = Pick<DayVerdicts, 'day' | 'runs'>;

interface ListingFilter {
  /** YYYY-MM-DD, in the account's zone. */
  readonly today: string;
  /** Only bookings whose check-in is before this day, or unknown: it might be tomorrow. */
  readonly checkInBefore?: string | undefined;
  /** Whether to read the kept columns. */
  readonly withKept?: boolean;
  /** Whether the fields have the guest's name. */
  readonly withNames?: boolean;
}

/** Bookings by how much they need help, guests in house first, however many. */
export interface BookingList<Booking = ListedBooking> {
  readonly count: number;
  /** In chunks; can be read more than once. What is not in the window costs no look-up and no memory. */
  read(window?: ListWindow): AsyncGenerator<readonly Booking[], void, undefined>;
}

/** The bookings that results mark as incorrectly mapped. */
export function listAffected(
  ledger: ListingLedger,
  days: readonly SentDay[],
  filter: ListingFilter,
): Promise<BookingList> {
  return list(ledger, days, filter, (run) => readJudged(ledger, run, 'incorrect'));
}

/** The bookings of files without a verdict, each with its reason. */
export function listUnanswered(
  ledger: ListingLedger,
  days: readonly SentDay[],
  filter: ListingFilter,
): Promise<BookingList> {
  return list(ledger, days, filter, (run) => readUnanswered(ledger, run));
}

interface Lines {
  readonly batch: number;
  /** Of each line. */
  readonly places: readonly number[];
  readonly lines: readonly string[];
  readonly verdictReason?: UnknownReason;
}

/** A stored line, kept as text: a tenth of what its fields take. */
interface Entry {
  /** See `urgencyOf`. */
  readonly key: string;
  readonly day: string;
  readonly line: string;
  readonly verdictReason?: UnknownReason | undefined;
  readonly kept?: KeptValues | undefined;
}

/** As many as one look-up takes. */
export const hotelsPerLookUp = 1_000;

async function list(
  { mappings, ...ledger }: ListingLedger,
  days: readonly SentDay[],
  { today, checkInBefore, withKept, withNames }: ListingFilter,
  read: (run: Run) => AsyncIterable<Lines>,
): Promise<BookingList> {
  async function* scan(): AsyncGenerator<Entry[], void, undefined> {
    for (const { day, runs } of days)
      for (const run of runs)
        for await (const { batch, places, lines, verdictReason } of read(run)) {
          const found = withKept ? await readKept(ledger, run, { batch, places, lines }) : undefined;
          yield lines.flatMap((line, index) => {
            const stay = readStayDates(line);
            if (checkInBefore !== undefined && (stay.checkIn ?? '') >= checkInBefore) return [];
            return [{ key: urgencyOf(stay, today), day, line, verdictReason, kept: found?.[index] }];
          });
        }
  }
  const readShown = withNames ? readFields : readNamelessFields;
  const { count, read: readOrdered } = await orderByKey(scan, copyEntry);
  return {
    count,
    async *read(window) {
      for await (const entries of readOrdered(window))
        for (let from = 0; from < entries.length; from += hotelsPerLookUp)
          yield toBookings(entries.slice(from, from + hotelsPerLookUp), mappings, readShown);
    },
  };
}

/**
 * The kept values of each line. The file of a run that tops up includes bookings that earlier runs delivered; those
 * runs have their values.
 */
async function readKept(
  ledger: KeptColumnReader,
  { id, topsUp }: Run,
  { batch, places, lines }: Lines,
): Promise<(KeptValues | undefined)[]> {
  const columns = await ledger.readKeptColumns(id, 'file', batch);
  const kept = places.map((place) => keptAt(columns, place));
  if (!topsUp) return kept;
  const references = lines.map((line) => readBooking(line, 'file').bookingReferenceId);
  const earlier = await ledger.findKeptValues(
    references.flatMap((reference, index) => (kept[index] || reference === undefined ? [] : [reference])),
  );
  return kept.map((values, index) => values ?? earlier.get(references[index] ?? ''));
}

/** A line is a slice of its batch's text, and a slice keeps the whole text in memory. */
function copyEntry({ line, ...entry }: Entry): Entry {
  return { ...entry, line: Buffer.from(line).toString() };
}

async function toBookings(
  entries: readonly Entry[],
  mappings: CopyReader,
  readShown: typeof readFields,
): Promise<ListedBooking[]> {
  const bookings = entries.map(({ day, line, verdictReason, kept }) => ({
    day,
    fields: readShown(line, 'file'),
    ...(verdictReason && { verdictReason }),
    ...(kept && { kept }),
  }));
  const copied = await readCopiedHotels(mappings, bookings.map(toHotel));
  return bookings.flatMap((booking, index) => {
    const found = copied[index];
    return found ? [{ ...booking, ...found }] : [];
  });
}

/** A booking without its provider's hotel finds nothing. */
function toHotel({
  fields: { ProviderName = '', ProviderHotelId = '' },
}: Pick<ListedBooking, 'fields'>): ProviderHotel {
  return { providerName: String(ProviderName), providerHotelId: String(ProviderHotelId) };
}

/** One batch at a time. */
async function* readJudged(ledger: ListingLedger, { id }: Run, judged: Judged): AsyncGenerator<Lines> {
  const next = (after?: number) => ledger.nextJudged(id, judged, after);
  for (let page = await next(); page; page = await next(page.batch)) yield page;
}

async function* readUnanswered(ledger: ListingLedger, run: Run): AsyncGenerator<Lines> {
  const { file } = run;
  if (file?.verdicts) {
    for (const reason of unansweredReasons) {
      for await (const page of readJudged(ledger, run, reason)) yield { ...page, verdictReason: reason };
    }
    return;
  }
  if (file?.rows === undefined) return;
  const verdictReason = file.triggeredAt === undefined ? 'not-delivered' : 'awaiting-result';
  for await (const { batch, lines } of readStoredBatches(ledger, run, 'file')) {
    const stored = splitStoredLines(lines);
    yield { batch, places: [...stored.keys()], lines: stored, verdictReason };
  }
}
