import { formatCount } from '../src/base/format.js';
import type { WriteCommand } from '../src/base/shell.js';
import { renderTable } from '../src/base/tables.js';
import { toExtraCells } from '../src/booking/extra-values.js';
import { describeCheckIn, isInHouse } from '../src/booking/stay.js';
import {
  bookingToCells,
  bookingToJson,
  describeWhy,
  listBookingColumns,
} from '../src/cases/booking-history.js';
import type { ReadOnlyLedger } from '../src/ledger/ledger.js';
import { adviseLoad, explainCopies, nameCopy } from '../src/mappings/copied-hotels.js';
import { renderPair } from '../src/mappings/hotels/shown-hotels.js';
import type { ListName, Why } from '../src/review/lists/listed-lines.js';
import {
  type BookingList,
  type ListedBooking,
  listBookings,
  stayOfListed,
} from '../src/review/lists/listing.js';
import { readDayOutcome } from '../src/review/outcome/read-outcome.js';
import type { Action } from '../src/rules/action.js';
import type { DayOutcome, SentRun } from '../src/rules/day-outcome.js';
import type { Run } from '../src/rules/run.js';
import type { App } from './app.js';
import { clock } from './clock.js';
import { type CsvOptions, command, csvOptions, type Described, dayOrYesterday } from './command.js';
import { type ExitCode, exitCode } from './exit-code.js';
import type { RecordChunks } from './terminal.js';

/** Rows shown on a terminal; `--csv` and `--json` list all. */
const shown = 200;

/** The bookings of these runs that count, with the extra columns. */
export function readBookings(
  app: App,
  ledger: ReadOnlyLedger,
  name: ListName,
  sent: readonly SentRun[],
  checkInBefore?: string,
): Promise<BookingList> {
  const withExtra = Object.keys(app.config.source.keep).length > 0;
  return listBookings(ledger, name, sent, { today: app.today(), clock, withExtra, checkInBefore });
}

/** The bookings as `--json` prints them. */
export function toRecords(list: BookingList, isRange: boolean): RecordChunks {
  return async function* () {
    for await (const bookings of list.read())
      yield bookings.map((booking) => bookingToJson(booking, isRange));
  };
}

/** A list of bookings, and what stands around it. */
interface Listed {
  readonly list: BookingList;
  /** Whether they are of several days. */
  readonly isRange?: boolean;
  /** Whether their mappings are doubted: then their hotels are shown side by side. */
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
  app: App,
  ledger: ReadOnlyLedger,
  listed: Listed,
  file: CsvOptions,
  code: ExitCode = exitCode.done,
): Promise<number> {
  const { list, isRange = false, look, head, notes = [], json } = listed;
  const extraLabels = Object.keys(app.config.source.keep);
  const csv = file.csv && app.locate(file.csv);
  await app.look({ ...look, details: { found: list.count, ...look.details, csv } });
  await app.writeCsv(file, listBookingColumns(isRange, extraLabels), async (add) => {
    for await (const bookings of list.read())
      await add(bookings.map((booking) => bookingToCells(booking, isRange)));
  });
  const text = [
    head,
    await renderBookings(app, ledger, listed),
    notes,
    file.csv !== undefined && `All of them are in ${file.csv}.`,
  ];
  return app.answerLarge(text, json, code);
}

const unknown = '-';
const legend = '  booked, copy: ServiceId of the booking, and in the local copy of the mappings';

/** A table of the first bookings, with what is known about each below its row. */
async function renderBookings(
  app: App,
  ledger: ReadOnlyLedger,
  { list, isRange = false, areDoubted = false }: Listed,
): Promise<string[]> {
  const bookings: ListedBooking[] = [];
  for await (const some of list.read({ from: 0, to: shown })) bookings.push(...some);
  if (bookings.length === 0) return [];
  const hasHotels = (await ledger.hotels.latestLoad()) !== undefined;
  const columns = listColumns(bookings, isRange, Object.keys(app.config.source.keep));
  const rows = bookings.map((booking) => columns.map(({ cell }) => cell(booking)));
  const head = columns.map(({ name }) => name);
  const [names = '', ...lines] = renderTable([...rows], head).split('\n');
  const today = app.today();
  return [
    names,
    ...bookings.flatMap((booking, index) => [
      lines[index] ?? '',
      ...renderDetails(booking, today, areDoubted && hasHotels),
    ]),
    legend,
    ...explainCopies(bookings).map((line) => `  ${line}`),
    ...(areDoubted && !hasHotels ? adviseLoad(app.command) : []),
    ...(list.count > shown ? [`  … and ${formatCount(list.count - shown)} more; --csv FILE lists all`] : []),
  ];
}

interface Column {
  readonly name: string;
  readonly cell: (booking: ListedBooking) => string;
}

function listColumns(
  bookings: readonly ListedBooking[],
  isRange: boolean,
  extraLabels: readonly string[],
): Column[] {
  const field = (name: string, of: string): Column => ({
    name,
    cell: ({ fields }) => String(fields[of] ?? unknown),
  });
  return [
    field('booking', 'BookingReferenceId'),
    ...(isRange ? [{ name: 'day', cell: ({ day }: ListedBooking) => day }] : []),
    field('check-in', 'CheckInDate'),
    field('check-out', 'CheckOutDate'),
    field('provider', 'ProviderName'),
    field('hotel id', 'ProviderHotelId'),
    field('booked', 'ServiceId'),
    { name: 'copy', cell: (booking) => nameCopy(booking, unknown) },
    ...(bookings.some(describeWhy)
      ? [{ name: 'why', cell: (one: ListedBooking) => describeWhy(one) ?? unknown }]
      : []),
    ...(bookings.some(({ step }) => step) ? [{ name: 'step', cell: ({ step = unknown }: Why) => step }] : []),
    ...extraLabels.map((label) => ({
      name: label,
      cell: ({ extraValues }: ListedBooking) => toExtraCells([label], extraValues).join(''),
    })),
  ];
}

/** What is below the row of a booking: where its guest is now, its two hotels and its case, as far as known. */
function renderDetails(booking: ListedBooking, today: string, showsHotels: boolean): string[] {
  const { hotels, fields, copyServiceId, copy, case: found } = booking;
  const stay = stayOfListed(booking);
  return [
    ...(isInHouse(stay, today) ? [`    guest:  ${describeCheckIn(stay, today)}`] : []),
    ...(showsHotels ? renderPair(hotels, { serviceId: Number(fields.ServiceId), copyServiceId, copy }) : []),
    ...(found ? [`    case:   ${found.id}, its mapping is ${found.state}`] : []),
  ];
}

interface DayList extends Described {
  readonly examples: string;
  /** Of the command, and of its list in the JSON. */
  readonly name: 'refused' | 'posted' | 'suspects';
  /** The run that the answer names; undefined if the day has no such list. */
  readonly nameRun: (outcome: DayOutcome) => Run | undefined;
  /** Why it has none: that is an answer. */
  readonly explainNone?: (newest: Run, command: WriteCommand) => string;
  readonly describe: (run: Run, count: number, outcome: DayOutcome) => string;
  /** Below a list that is not empty. */
  readonly note?: (command: WriteCommand) => string;
  /** Whether the hotels are shown side by side. */
  readonly areDoubted?: boolean;
}

/** A command that lists bookings of a day, without guests' names. */
export function dayList({
  name,
  nameRun,
  explainNone,
  describe,
  note,
  areDoubted = false,
  ...described
}: DayList) {
  return command({
    ...described,
    day: dayOrYesterday,
    options: csvOptions,

    async run(app, { day, ...file }) {
      const none = { day, runId: null, state: null, [name]: [] };
      const ledger = await app.findLedger();
      if (!ledger) return app.answerNone(none);
      const outcome = await readDayOutcome(ledger, day);
      const { latest } = outcome;
      if (!latest) return app.answerNone(none, `There is no run of ${day}.`);
      const run = nameRun(outcome);
      if (!run) {
        const unknown = { day, runId: latest.id, state: latest.state, [name]: null };
        return app.answer(explainNone?.(latest, app.command) ?? '', unknown);
      }
      const bookings = await readBookings(app, ledger, name, outcome.sent);
      const listed = {
        list: bookings,
        areDoubted,
        look: { action: name, subject: day },
        head: describe(run, bookings.count, outcome),
        notes: note && bookings.count > 0 ? [note(app.command)] : [],
        json: { day, runId: run.id, state: run.state, [name]: toRecords(bookings, false) },
      };
      return answerBookings(app, ledger, listed, file);
    },
  });
}
