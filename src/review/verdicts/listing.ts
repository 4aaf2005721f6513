import type { ServiceField } from '../../booking/booking.js';
import type { KeptValues } from '../../booking/kept-values.js';
import { type StayDates, urgencyOf } from '../../booking/stay.js';
import { readStoredBatches, splitStoredLines } from '../../ledger/batches.js';
import { type Judged, type SuspectReason, unansweredReasons } from '../../ledger/findings.js';
import { keptAt } from '../../ledger/kept-columns.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import type { ProviderHotel } from '../../ledger/mappings.js';

import type { Run } from '../../ledger/run.js';
import type { BookingForm } from '../../ledger/step.js';
import { type CopiedHotel, type CopyReader, readCopiedHotels } from '../../mappings/copied-hotels.js';
import { explainPosted, type FileObstacle, readStayDates } from '../file/review-line.js';
import { readBooking, readNamelessFields, toFields } from '../stored/stored-line.js';
import { readSuspects, toSuspicion } from '../suspects/listing.js';
import type { UnknownReason } from '../verdict.js';
import { type ListWindow, orderByKey } from './check-in-order.js';
import type { DayVerdicts } from './day-verdicts.js';

/** Why a booking is in its list, under the names that programs read. */
export interface Why {
  /** Why it has no verdict. */
  readonly verdictReason?: UnknownReason;
  /** Why it is a suspect, or could not be in the file. */
  readonly reason?: SuspectReason | FileObstacle['reason'];
  /** When the mapping of a suspect changed, ISO 8601 in UTC; null if it never did. */
  readonly movedAt?: string | null;
  /** What keeps it out of the file. */
  readonly field?: ServiceField;
  /** What the service refused it with, and in which step. */
  readonly code?: string;
  readonly step?: string;
}

/** A booking as shown to people and programs. */
export interface ListedBooking extends CopiedHotel, Why {
  /** YYYY-MM-DD */
  readonly day: string;
  readonly runId: string;
  /** Under the service's names (spec 2.5), without the guest's name unless requested. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Its local columns, if requested. */
  readonly kept?: KeptValues;
}

/** A day and the runs whose bookings are listed. */
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
  ledger: ReadOnlyLedger,
  days: readonly SentDay[],
  filter: ListingFilter,
): Promise<BookingList> {
  return list(ledger, days, filter, (runs) => readEach(runs, (run) => readJudged(ledger, run, 'incorrect')));
}

/** The bookings of files without a verdict, each with its reason. */
export function listUnanswered(
  ledger: ReadOnlyLedger,
  days: readonly SentDay[],
  filter: ListingFilter,
): Promise<BookingList> {
  return list(ledger, days, filter, (runs) => readEach(runs, (run) => readUnanswered(ledger, run)));
}

/** The bookings that the service refused, each with its code. */
export function listRefused(
  ledger: ReadOnlyLedger,
  days: readonly SentDay[],
  filter: ListingFilter,
): Promise<BookingList> {
  return list(ledger, days, filter, (runs) => readEach(runs, (run) => readRefused(ledger, run)));
}

/** The bookings of runs by file that went by body, each with what kept it out of the file. */
export function listPosted(
  ledger: ReadOnlyLedger,
  days: readonly SentDay[],
  filter: ListingFilter,
): Promise<BookingList> {
  return list(ledger, days, filter, (runs) => readEach(runs, (run) => readPosted(ledger, run)));
}

/** The bookings that the local copy of the mappings flags. One that several runs sent is listed once. */
export function listSuspected(
  ledger: ReadOnlyLedger,
  days: readonly SentDay[],
  filter: ListingFilter,
): Promise<BookingList> {
  return list(ledger, days, filter, (runs) => readSuspected(ledger, runs));
}

/** What is known about a line: for a suspect with the hotel of the copy when it was compared. */
type Finding = Why & Partial<CopiedHotel>;

interface Lines {
  readonly run: Run;
  readonly form: BookingForm;
  readonly batch: number;
  /** Of each line. */
  readonly places: readonly number[];
  readonly lines: readonly string[];
  explain?(line: string, index: number): Finding | undefined;
}

/** A stored line, kept as text: a tenth of what its fields take. */
interface Entry {
  /** See `urgencyOf`. */
  readonly key: string;
  readonly day: string;
  readonly runId: string;
  readonly form: BookingForm;
  readonly line: string;
  readonly finding?: Finding | undefined;
  readonly kept?: KeptValues | undefined;
}

/** As many as one look-up takes. */
export const hotelsPerLookUp = 1_000;

async function list(
  ledger: ReadOnlyLedger,
  days: readonly SentDay[],
  { today, checkInBefore, withKept, withNames }: ListingFilter,
  read: (runs: readonly Run[]) => AsyncIterable<Lines>,
): Promise<BookingList> {
  async function* scan(): AsyncGenerator<Entry[], void, undefined> {
    for (const { day, runs } of days)
      for await (const page of read(runs)) {
        const { run, form, lines, explain } = page;
        const kept = withKept ? await readKept(ledger, page) : undefined;
        yield lines.flatMap((line, index) => {
          const stay = readStay(line, form);
          if (checkInBefore !== undefined && (stay.checkIn ?? '') >= checkInBefore) return [];
          const finding = explain?.(line, index);
          const key = urgencyOf(stay, today);
          return [{ key, day, runId: run.id, form, line, finding, kept: kept?.[index] }];
        });
      }
  }
  const readShown = (line: string, form: BookingForm) =>
    withNames ? toFields(readBooking(line, form)) : readNamelessFields(line, form);
  const { count, read: readOrdered } = await orderByKey(scan, copyEntry);
  return {
    count,
    async *read(window) {
      for await (const entries of readOrdered(window))
        for (let from = 0; from < entries.length; from += hotelsPerLookUp)
          yield toBookings(entries.slice(from, from + hotelsPerLookUp), ledger.mappings, readShown);
    },
  };
}

function readStay(line: string, form: BookingForm): StayDates {
  if (form === 'file') return readStayDates(line);
  const { checkInDate, checkOutDate } = readBooking(line, form);
  return { checkIn: checkInDate, checkOut: checkOutDate };
}

/**
 * The kept values of each line. The file of a run that tops up includes bookings that earlier runs delivered; those
 * runs have their values.
 */
async function readKept(
  ledger: ReadOnlyLedger,
  { run: { id, topsUp }, form, batch, places, lines }: Lines,
): Promise<(KeptValues | undefined)[]> {
  const columns = await ledger.bookings.readKept(id, form, batch);
  const kept = places.map((place) => keptAt(columns, place));
  if (!topsUp) return kept;
  const references = lines.map((line) => readBooking(line, form).bookingReferenceId);
  const earlier = await ledger.bookings.findKept(
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
  readShown: typeof readNamelessFields,
): Promise<ListedBooking[]> {
  const bookings = entries.map(({ day, runId, form, line, finding, kept }) => ({
    ...{ day, runId, fields: readShown(line, form) },
    ...finding,
    ...(kept && { kept }),
  }));
  const isCompared = bookings.every(({ copy }) => copy !== undefined);
  const copied = isCompared ? [] : await readCopiedHotels(mappings, bookings.map(toHotel));
  return bookings.map((booking, index) => ({
    ...{ copyServiceId: null, copy: 'unmapped' as const },
    ...copied[index],
    ...booking,
  }));
}

/** A booking without its provider's hotel finds nothing. */
function toHotel({
  fields: { ProviderName = '', ProviderHotelId = '' },
}: Pick<ListedBooking, 'fields'>): ProviderHotel {
  return { providerName: String(ProviderName), providerHotelId: String(ProviderHotelId) };
}

async function* readEach(
  runs: readonly Run[],
  read: (run: Run) => AsyncIterable<Lines>,
): AsyncGenerator<Lines> {
  for (const run of runs) yield* read(run);
}

/** One batch at a time. */
async function* readJudged(ledger: ReadOnlyLedger, run: Run, judged: Judged): AsyncGenerator<Lines> {
  const next = (after?: number) => ledger.bookings.nextJudged(run.id, judged, after);
  for (let page = await next(); page; page = await next(page.batch)) yield { ...page, run, form: 'file' };
}

async function* readUnanswered(ledger: ReadOnlyLedger, run: Run): AsyncGenerator<Lines> {
  const { file } = run;
  if (file?.verdicts) {
    for (const verdictReason of unansweredReasons) {
      for await (const page of readJudged(ledger, run, verdictReason))
        yield { ...page, explain: () => ({ verdictReason }) };
    }
    return;
  }
  if (file?.rows === undefined) return;
  const verdictReason = file.triggeredAt === undefined ? 'not-delivered' : 'awaiting-result';
  for await (const page of readStored(ledger, run, 'file'))
    yield { ...page, explain: () => ({ verdictReason }) };
}

async function* readStored(ledger: ReadOnlyLedger, run: Run, form: BookingForm): AsyncGenerator<Lines> {
  for await (const { batch, lines: stored } of readStoredBatches(ledger, run, form)) {
    const lines = splitStoredLines(stored);
    yield { run, form, batch, places: [...lines.keys()], lines };
  }
}

async function* readPosted(ledger: ReadOnlyLedger, run: Run): AsyncGenerator<Lines> {
  if (run.delivery !== 'file') return;
  for await (const page of readStored(ledger, run, 'body'))
    yield { ...page, explain: (line) => explainPosted(readBooking(line, 'body')) };
}

const refusedAtOnce = 1_000;

async function* readRefused(ledger: ReadOnlyLedger, run: Run): AsyncGenerator<Lines> {
  for (let skip = 0; ; skip += refusedAtOnce) {
    const refused = await ledger.bookings.listRefused(run.id, refusedAtOnce, skip);
    for (const { form, batch, place, line, code, step } of refused)
      yield { run, form, batch, places: [place], lines: [line], explain: () => ({ code, step }) };
    if (refused.length < refusedAtOnce) return;
  }
}

async function* readSuspected(ledger: ReadOnlyLedger, runs: readonly Run[]): AsyncGenerator<Lines> {
  const seen = new Set<string>();
  for (const run of runs)
    for await (const { form, cursor, suspects } of readSuspects(ledger, run.id)) {
      const isNew = (line: string) => runs.length === 1 || (!seen.has(line) && seen.add(line));
      const listed = suspects.filter(({ line }) => isNew(line));
      yield {
        ...{ run, form, batch: cursor.batch },
        places: listed.map(({ place }) => place),
        lines: listed.map(({ line }) => line),
        explain: (_, index) => listed[index] && toSuspicion(listed[index]),
      };
    }
}
