import { businessDayAt } from '../src/booking/business-day.js';
import { type CasedBooking, withCases } from '../src/cases/booked-cases.js';
import { listCsvColumns, renderBookings, shown, toCells, toRecord } from '../src/cli/booking-list.js';
import type { CsvOptions } from '../src/cli/commands/options.js';
import type { Config } from '../src/config/load.js';
import { createHotelComparer } from '../src/mappings/hotels/compare-hotels.js';
import type { ReadOnlyNoticeLedger } from '../src/notifications/notice-store.js';
import type { Action } from '../src/review/audit.js';
import { withHotels } from '../src/review/verdicts/booked-hotels.js';
import type { BookingList } from '../src/review/verdicts/listing.js';
import type { RecordChunks } from '../src/text/json-stream.js';
import { writeCsvFile } from '../src/text/output-files.js';
import { recordLook } from './audit.js';
import { clock } from './clock.js';
import type { Terminal } from './terminal.js';

/** More than any day has. */
export const runsLookedAt = 1_000;

/** What a list of bookings is filtered and completed with. */
export function readFilter({ timezone, source }: Config) {
  const today = businessDayAt(new Date(clock()), timezone).iso;
  return { today, withKept: Object.keys(source.keep).length > 0 };
}

/** The same bookings with their hotels and their cases. */
export function completeList(list: BookingList, ledger: ReadOnlyNoticeLedger): BookingList<CasedBooking> {
  return withCases(withHotels(list, createHotelComparer({ hotels: ledger.hotels, clock })), ledger.cases);
}

/** The bookings as `--json` prints them. */
export function toRecords(list: BookingList<CasedBooking>, isRange: boolean): RecordChunks {
  return async function* () {
    for await (const bookings of list.read()) yield bookings.map((booking) => toRecord(booking, isRange));
  };
}

/** A list of bookings, and what stands around it. */
interface Listed {
  readonly list: BookingList<CasedBooking>;
  readonly isRange?: boolean;
  readonly areDoubted?: boolean;
  /** For the audit trail. */
  readonly look: Action;
  readonly head: string;
  readonly notes?: readonly string[];
  /** What `--json` prints. */
  readonly json: Readonly<Record<string, unknown>>;
}

/** Shows a list of bookings: as a table, as JSON and, if asked for, as a file; and records the look. */
export async function answerBookings(
  { list, isRange = false, areDoubted = false, look, head, notes = [], json }: Listed,
  { csv, ...how }: CsvOptions,
  { config, ledger, terminal }: { config: Config; ledger: ReadOnlyNoticeLedger; terminal: Terminal },
): Promise<void> {
  const { command } = terminal;
  const keptLabels = Object.keys(config.source.keep);
  const details = { found: list.count, ...look.details, csv: csv && terminal.locate(csv) };
  await recordLook(ledger, { ...look, details }, terminal);
  if (csv !== undefined)
    await writeCsvFile(listCsvColumns({ isRange, keptLabels }), { csv, ...how }, terminal, async (add) => {
      for await (const bookings of list.read())
        await add(bookings.map((booking) => toCells(booking, isRange)));
    });
  const bookings: CasedBooking[] = [];
  for await (const some of list.read({ from: 0, to: shown })) bookings.push(...some);
  const hasHotels = (await ledger.hotels.latestLoad()) !== undefined;
  const { today } = readFilter(config);
  const table = { count: list.count, bookings, isRange, areDoubted, hasHotels, keptLabels, today };
  const lines = [
    head,
    ...renderBookings(table, command),
    ...notes,
    ...(csv === undefined ? [] : [`All of them are in ${csv}.`]),
    '',
  ];
  await terminal.answerLarge(lines.join('\n'), json);
}
