import { guestNameFields } from '../../booking/booking.js';
import { businessDayAt } from '../../booking/business-day.js';
import { type CasedBooking, withCases } from '../../cases/booked-cases.js';
import type { CaseReader } from '../../cases/case-store.js';
import type { CopyReader, CopyStanding } from '../../mappings/copied-hotels.js';
import { createHotelComparer } from '../../mappings/hotels/compare-hotels.js';
import type { HotelReader } from '../../mappings/hotels/hotel-contents.js';
import { toReported } from '../../report/gather-report.js';
import type { History, SuspectReader } from '../../review/history.js';
import type { KeptColumnReader } from '../../review/kept-columns.js';
import type { BatchReader } from '../../review/ledger.js';
import type { Run } from '../../review/run.js';
import { readFields, readNamelessFields } from '../../review/stored/stored-line.js';
import { splitStoredLines } from '../../review/stored-batches.js';
import { orderSuspects, readSuspects, type SuspectReport } from '../../review/suspects/listing.js';
import { withHotels } from '../../review/verdicts/booked-hotels.js';
import { listAffected, listUnanswered } from '../../review/verdicts/listing.js';
import { entriesBefore, entriesPerPage } from '../routing/pages.js';
import type { DeskVisit } from '../routing/route.js';

/** A booking in a list of a run; null stands for unknown. */
export interface ListedBooking {
  readonly reference: string | null;
  /** Only for those who may see names. */
  readonly guest?: string | null;
  readonly checkIn: string | null;
  readonly checkOut: string | null;
  readonly providerName: string | null;
  readonly providerHotelId: string | null;
  readonly serviceId: number;
  readonly copyServiceId?: number | null;
  readonly copy?: CopyStanding;
  readonly bookedHotel?: string | null;
  readonly copyHotel?: string | null;
  readonly distanceKm?: number | null;
  readonly caseId?: number | null;
  readonly verdictReason?: string;
  /** Why it is flagged. */
  readonly suspicion?: string;
  readonly movedAt?: string | null;
}

export interface ListLedger
  extends BatchReader,
    SuspectReader,
    Pick<History, 'nextJudged'>,
    KeptColumnReader {
  readonly mappings: CopyReader;
  readonly hotels: Pick<HotelReader, 'lookUp'>;
  readonly cases: Pick<CaseReader, 'findByKeys'>;
}

export type ListName = 'affected' | 'unanswered' | 'posted' | 'suspects';

/** A page of a list of a run, in the order of the command: guests in house first, then the nearest check-in, where that is known for all. */
export async function readList(
  ledger: ListLedger,
  run: Run,
  name: ListName,
  page: number,
  visit: DeskVisit,
): Promise<{ readonly count: number; readonly bookings: readonly ListedBooking[] }> {
  switch (name) {
    case 'affected':
    case 'unanswered':
      return readJudged(ledger, run, name, page, visit);
    case 'posted':
      return readPosted(ledger, run, page, visit);
    case 'suspects':
      return readSuspected(ledger, run, page, visit);
  }
}

async function readJudged(
  ledger: ListLedger,
  run: Run,
  name: 'affected' | 'unanswered',
  page: number,
  visit: DeskVisit,
) {
  const { now, may } = visit;
  const list = name === 'affected' ? listAffected : listUnanswered;
  const found = await list(ledger, [{ day: run.day, runs: [run] }], {
    today: todayOf(visit),
    withNames: may('see-names'),
  });
  const compare = createHotelComparer({ hotels: ledger.hotels, clock: () => now });
  const cased = withCases(withHotels(found, compare), ledger.cases);
  const from = entriesBefore(page);
  const bookings: ListedBooking[] = [];
  for await (const some of cased.read({ from, to: from + entriesPerPage }))
    bookings.push(...some.map(toListed));
  return { count: found.count, bookings };
}

function toListed(booking: CasedBooking): ListedBooking {
  const { bookedHotel, copyHotel, distanceKm, copyServiceId, copy } = toReported(booking);
  return {
    ...toRow(booking.fields),
    ...{ copyServiceId, copy, bookedHotel, copyHotel, distanceKm },
    caseId: booking.case?.id ?? null,
    ...(booking.verdictReason && { verdictReason: booking.verdictReason }),
  };
}

/** What went by body, in the order of the source. */
async function readPosted(ledger: ListLedger, { id }: Run, page: number, { may }: DeskVisit) {
  const { batches, bookings: count } = await ledger.measureBatches(id, 'body');
  const from = entriesBefore(page);
  if (from >= count) return { count, bookings: [] };
  // Every batch but the last has the same size.
  const { length: size } = splitStoredLines(await ledger.readBatch(id, 'body', 0));
  const start = Math.floor(from / size);
  const end = Math.min(batches, Math.ceil((from + entriesPerPage) / size));
  const read = await ledger.readBatches(id, 'body', { from: start, to: end });
  const skip = from - start * size;
  const lines = read.flatMap(splitStoredLines).slice(skip, skip + entriesPerPage);
  const readShown = may('see-names') ? readFields : readNamelessFields;
  return { count, bookings: lines.map((line) => toRow(readShown(line, 'body'))) };
}

async function readSuspected(ledger: ListLedger, run: Run, page: number, visit: DeskVisit) {
  const read = () => readSuspects({ nextSuspects: ledger.nextSuspects }, [run]);
  const ordered = await orderSuspects(read, todayOf(visit));
  const from = entriesBefore(page);
  const found: SuspectReport[] = [];
  for await (const items of ordered.read({ from, to: from + entriesPerPage })) found.push(...items);
  return {
    count: run.suspects ?? 0,
    bookings: found.map(({ reason, copyServiceId, copy, movedAt, ...fields }) => ({
      ...toRow({ ...fields }),
      ...{ suspicion: reason, copyServiceId, copy, movedAt },
    })),
  };
}

const todayOf = ({ now, timezone }: DeskVisit) => businessDayAt(new Date(now), timezone).iso;

function toRow(fields: Readonly<Record<string, unknown>>): ListedBooking {
  const read = (name: string) => (fields[name] === undefined ? null : String(fields[name]));
  const [guestField = ''] = guestNameFields;
  // The master id may have another name, but comes first.
  const serviceId = Number(fields.ServiceId ?? Object.values(fields)[0]);
  return {
    reference: read('BookingReferenceId'),
    ...(guestField in fields && { guest: read(guestField) }),
    checkIn: read('CheckInDate'),
    checkOut: read('CheckOutDate'),
    providerName: read('ProviderName'),
    providerHotelId: read('ProviderHotelId'),
    serviceId,
  };
}
