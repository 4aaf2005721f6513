import { giveWay } from '../../base/give-way.js';
import { SafeError } from '../../base/safe-error.js';
import type { ServiceField } from '../../booking/booking.js';
import type { KeptValues } from '../../booking/kept-values.js';
import type { BookingForm } from '../../booking/line-form.js';
import { explainPosted, type FileObstacle, readStayDates } from '../../booking/review-line.js';
import { type StayDates, stayOf, urgencyOf } from '../../booking/stay.js';
import { readBooking } from '../../booking/stored-line.js';
import { keptAt, readStoredBatches, splitStoredLines, takeStoredLines } from '../../ledger/batches.js';
import type { SuspectReason } from '../../ledger/findings.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import { type CopiedHotel, readCopiedHotels } from '../../mappings/copied-hotels.js';
import { createHotelComparer, type HotelPair, unknownPair } from '../../mappings/hotels/compare-hotels.js';
import type { Case, CaseKey } from '../../rules/case.js';
import type { DayStanding } from '../../rules/day-outcome.js';
import { holdsBookings, type SentRun } from '../../rules/day-outcome.js';
import { type Judged, type StoredVerdict, unansweredReasons } from '../../rules/review-file.js';
import type { Run } from '../../rules/run.js';
import type { UnknownReason } from '../../rules/verdict.js';
import { readNamelessFields, toFields } from '../stored/stored-line.js';
import { readSuspects, toSuspicion } from '../suspects/listing.js';

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
  readonly hotels: HotelPair;
  /** That of its provider hotel and master hotel, as booked. */
  readonly case?: Pick<Case, 'id' | 'state'> | undefined;
}

/** Bookings by how much they need help, guests in house first, however many. */
export interface BookingList {
  readonly count: number;
  /** In chunks; can be read more than once. What is not in the window costs no look-up and no memory. */
  read(window?: ListWindow): AsyncGenerator<readonly ListedBooking[], void, undefined>;
}

/** Some bookings of a run, all of one batch. */
interface Lines {
  readonly form: BookingForm;
  readonly batch: number;
  /** Of each line. */
  readonly places: readonly number[];
  readonly lines: readonly string[];
  /** What is known about a line: for a suspect with the hotel of the copy when it was compared. */
  explain?(line: string, index: number): (Why & Partial<CopiedHotel>) | undefined;
}

/** The lists, and how the bookings of each are found among those of a run. */
const lists = {
  /** Those that a result marks as incorrectly mapped. */
  affected: (ledger: ReadOnlyLedger, sent: SentRun): AsyncIterable<Lines> =>
    readJudgedAs(ledger, sent, 'incorrect'),
  /** Those of the file without a verdict, each with its reason. */
  unanswered: readUnanswered,
  /** Those that the service refused, each with its code. */
  refused: readRefused,
  /** Those that went by body although their day went by file, each with what kept it out of the file. */
  posted: readPosted,
  /** Those that the local copy of the mappings flags. */
  suspects: readSuspected,
};

export type ListName = keyof typeof lists;

/** As many as one look-up takes. */
const hotelsPerLookUp = 1_000;

/** A stored line, kept as text: a tenth of what its fields take. */
interface Entry {
  /** See `urgencyOf`. */
  readonly key: string;
  readonly run: Run;
  readonly form: BookingForm;
  readonly line: string;
  readonly why: ReturnType<NonNullable<Lines['explain']>>;
  readonly kept: KeptValues | undefined;
}

/** Lists the bookings of runs that count, each with its hotels and its case. */
export async function listBookings(
  ledger: ReadOnlyLedger,
  name: ListName,
  sent: readonly SentRun[],
  {
    today,
    clock,
    checkInBefore,
    withKept,
    withNames,
  }: {
    /** YYYY-MM-DD, in the account's zone. */
    readonly today: string;
    readonly clock: () => number;
    /** Only bookings whose check-in is before this day, or unknown: it might be tomorrow. */
    readonly checkInBefore?: string | undefined;
    /** Whether to read the kept columns. */
    readonly withKept?: boolean;
    /** Whether the fields have the guest's name. */
    readonly withNames?: boolean;
  },
): Promise<BookingList> {
  async function* scan(): AsyncGenerator<Entry[], void, undefined> {
    // A day that went by body as a whole posted nothing besides a file.
    if (name === 'posted' && !sent.some(({ run }) => run.delivery === 'file' && holdsBookings(run))) return;
    for (const one of sent)
      for await (const page of lists[name](ledger, one)) {
        const { run } = one;
        const { form, lines, explain } = page;
        const kept = withKept ? await readKept(ledger, run, page) : [];
        yield lines.flatMap((line, index) => {
          const stay = stayOf(form === 'file' ? readStayDates(line) : readBooking(line, form), run.day);
          if (checkInBefore !== undefined && (stay.checkIn ?? '') >= checkInBefore) return [];
          const key = urgencyOf(stay, today);
          return [{ key, run, form, line, why: explain?.(line, index), kept: kept[index] }];
        });
      }
  }
  const compare = createHotelComparer({ hotels: ledger.hotels, clock });

  async function toBookings(entries: readonly Entry[]): Promise<ListedBooking[]> {
    const bookings = entries.map(({ run, form, line, why, kept }) => ({
      day: run.day,
      runId: run.id,
      fields: withNames ? toFields(readBooking(line, form)) : readNamelessFields(line, form),
      ...why,
      ...(kept && { kept }),
    }));
    const keys = bookings.map(toKey);
    // A suspect has the hotel that the copy had when it was compared.
    const copied = name === 'suspects' ? [] : await readCopiedHotels(ledger.mappings, keys);
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

  const { count, read: readOrdered } = await orderByKey(scan, copyEntry);
  return {
    count,
    async *read(window) {
      for await (const entries of readOrdered(window))
        for (let from = 0; from < entries.length; from += hotelsPerLookUp)
          yield toBookings(entries.slice(from, from + hotelsPerLookUp));
    },
  };
}

/** The stay of a listed booking. */
export function stayOfListed({ fields, day }: Pick<ListedBooking, 'fields' | 'day'>): StayDates {
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  return stayOf({ checkInDate: text(fields.CheckInDate), checkOutDate: text(fields.CheckOutDate) }, day);
}

/**
 * The kept values of each line. The file of a run that tops up includes bookings that earlier runs delivered; those
 * runs have their values.
 */
async function readKept(
  ledger: ReadOnlyLedger,
  { id, topsUp }: Run,
  { form, batch, places, lines }: Lines,
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

/** One batch at a time. */
export async function* readJudged({ bookings }: ReadOnlyLedger, { id }: Run, judged: StoredVerdict) {
  const next = (after?: number) => bookings.nextJudged(id, judged, after);
  for (let page = await next(); page; page = await next(page.batch)) yield { ...page, form: 'file' as const };
}

/** The bookings that count as this: by the result of their own run, or by that of another. */
async function* readJudgedAs(
  ledger: ReadOnlyLedger,
  { run, standings }: SentRun,
  judged: Judged,
): AsyncGenerator<Lines> {
  for await (const page of readJudged(ledger, run, judged))
    yield pick(page, standings, (standing) => standing === undefined);
  for (const { form, batch, places } of standings.list(judged)) {
    const stored = await ledger.bookings.readBatch(run.id, form, batch);
    yield { form, batch, places, lines: takeStoredLines(stored, places) };
  }
}

async function* readUnanswered(ledger: ReadOnlyLedger, sent: SentRun): AsyncGenerator<Lines> {
  const { file } = sent.run;
  for (const verdictReason of unansweredReasons)
    for await (const page of readJudgedAs(ledger, sent, verdictReason))
      if (page.form === 'file') yield { ...page, explain: () => ({ verdictReason }) };
  if (file?.verdicts || file?.rows === undefined) return;
  const verdictReason = file.triggeredAt === undefined ? 'not-delivered' : 'awaiting-result';
  for await (const page of readStored(ledger, sent.run, 'file'))
    yield {
      ...pick(page, sent.standings, (standing) => standing === undefined),
      explain: () => ({ verdictReason }),
    };
}

async function* readStored(ledger: ReadOnlyLedger, run: Run, form: BookingForm): AsyncGenerator<Lines> {
  for await (const { batch, lines: stored } of readStoredBatches(ledger, run, form)) {
    const lines = splitStoredLines(stored);
    yield { form, batch, places: [...lines.keys()], lines };
  }
}

/** The lines of a page that count as wanted. */
function pick(
  page: Lines,
  standings: SentRun['standings'],
  isWanted: (standing: DayStanding | undefined) => boolean,
): Lines {
  const { form, batch, places, lines, explain } = page;
  const known = standings.find(form, batch);
  const wanted = [...places.keys()].filter((index) => isWanted(known.get(places[index] ?? -1)));
  if (wanted.length === places.length) return page;
  return {
    form,
    batch,
    places: wanted.map((index) => places[index] ?? -1),
    lines: wanted.map((index) => lines[index] ?? ''),
    ...(explain && { explain: (line, index) => explain(line, wanted[index] ?? -1) }),
  };
}

const isCounted = (standing: DayStanding | undefined) => standing !== 'uncounted';
/** Whether no result says whether its mapping is correct. */
const isOpen = (standing: DayStanding | undefined) =>
  isCounted(standing) && standing !== 'correct' && standing !== 'incorrect';

async function* readPosted(ledger: ReadOnlyLedger, { run, standings }: SentRun): AsyncGenerator<Lines> {
  for await (const page of readStored(ledger, run, 'body'))
    yield {
      ...pick(page, standings, isOpen),
      explain: (line) => explainPosted(readBooking(line, 'body')),
    };
}

const refusedAtOnce = 1_000;

async function* readRefused(ledger: ReadOnlyLedger, { run, standings }: SentRun): AsyncGenerator<Lines> {
  for (let skip = 0; ; skip += refusedAtOnce) {
    const refused = await ledger.bookings.listRefused(run.id, refusedAtOnce, skip);
    for (const { form, batch, place, line, code, step } of refused) {
      const page = { form, batch, places: [place], lines: [line], explain: () => ({ code, step }) };
      yield pick(page, standings, isCounted);
    }
    if (refused.length < refusedAtOnce) return;
  }
}

async function* readSuspected(ledger: ReadOnlyLedger, { run, standings }: SentRun): AsyncGenerator<Lines> {
  for await (const { form, cursor, suspects } of readSuspects(ledger, run.id)) {
    const page: Lines = {
      form,
      batch: cursor.batch,
      places: suspects.map(({ place }) => place),
      lines: suspects.map(({ line }) => line),
      explain: (_, index) => suspects[index] && toSuspicion(suspects[index]),
    };
    yield pick(page, standings, isCounted);
  }
}

/** More items are read in several passes. */
const usuallyAtOnce = 40_000;

/** Places in a list: from the first one that is wanted to the one after the last. */
interface ListWindow {
  readonly from: number;
  readonly to: number;
}

/** Items in an order, without holding all of them. */
export interface Ordered<Item> {
  readonly count: number;
  /** In order, in chunks; can be read more than once. Items outside the window are not held. */
  read(window?: ListWindow): AsyncIterable<readonly Item[]>;
}

/**
 * Orders any number of items in constant memory (but for the different keys) by a key such as a day. The first pass counts the items of
 * each key, so that a later one knows the rank of every item it meets and keeps those of its window only. Items with the same
 * key stay in their order.
 *
 * @param scan reads the items in chunks, in the same order on each call
 * @param copy frees an item that is held from the chunk it came in
 * @param atOnce the most items held at once
 */
export async function orderByKey<Item extends { readonly key: string }>(
  scan: () => AsyncIterable<readonly Item[]>,
  copy: (item: Item) => Item,
  atOnce = usuallyAtOnce,
): Promise<Ordered<Item>> {
  const counts = new Map<string, number>();
  let count = 0;
  /** All items, as long as they are few. */
  let held: Item[] = [];
  for await (const items of scan()) {
    for (const { key } of items) counts.set(key, (counts.get(key) ?? 0) + 1);
    count += items.length;
    if (count > atOnce) held = [];
    else for (const item of items) held.push(copy(item));
    await giveWay();
  }
  const starts = new Map<string, number>();
  let start = 0;
  for (const key of [...counts.keys()].sort()) {
    starts.set(key, start);
    start += counts.get(key) ?? 0;
  }

  async function readWindow({ from, to }: ListWindow): Promise<Item[]> {
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
      await giveWay();
    }
    if (seen !== count || found.length !== to - from) throw new ChangedListError();
    return found;
  }

  return {
    count,
    async *read(window = { from: 0, to: count }) {
      // The sort is stable.
      const inOrder = (items: Item[]) => items.sort((a, b) => compare(a.key, b.key));
      const to = Math.min(window.to, count);
      if (count <= atOnce) yield inOrder(held).slice(window.from, to);
      else
        for (let { from } = window; from < to; from += atOnce)
          yield inOrder(await readWindow({ from, to: Math.min(from + atOnce, to) }));
    },
  };
}

function compare(a: string, b: string): number {
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
