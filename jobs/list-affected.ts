import { businessDayAt, createBusinessDay } from '../src/booking/business-day.js';
import { type CasedBooking, withCases } from '../src/cases/booked-cases.js';
import {
  listingColumns,
  renderVerdicts,
  shown,
  toListedCells,
  toListedRecord,
  type VerdictListing,
} from '../src/cli/affected.js';
import type { AffectedOptions } from '../src/cli/commands/history.js';
import { type ExitCode, exitCode, worstOf } from '../src/cli/exit-code.js';
import { type RecordChunks, renderLargeObject } from '../src/cli/json-stream.js';
import { type CsvTarget, writeCsvFile } from '../src/cli/output-files.js';
import type { Config } from '../src/config/load.js';
import { createHotelComparer } from '../src/mappings/hotels/compare-hotels.js';
import { UsageError } from '../src/review/refusals.js';
import { withHotels } from '../src/review/verdicts/booked-hotels.js';
import { type DayVerdicts, sumKnown, summariseVerdicts } from '../src/review/verdicts/day-verdicts.js';
import {
  type BookingList,
  listAffected as listAffectedBookings,
  listUnanswered,
} from '../src/review/verdicts/listing.js';
import { recordLook } from './audit.js';
import { clock } from './clock.js';
import { withReadOnlyLedger } from './ledgers.js';
import type { Terminal } from './terminal.js';

const runsLookedAt = 1_000;
const daysAtOnce = 1_000;

interface Days {
  readonly from: string;
  readonly to: string;
  readonly isRange: boolean;
}

/**
 * Lists the bookings of a day or a range whose mapping its result marks as incorrect, or those without a verdict,
 * without guests' names.
 *
 * @param yesterday the default day: falling back to an older one would hide that yesterday has no result
 */
export async function listAffected(
  config: Config,
  day: string | undefined,
  options: AffectedOptions,
  yesterday: string,
  terminal: Terminal,
): Promise<number> {
  const days = chooseDays(day, options, yesterday);
  const isoDays = listDays(days, config);
  const keptLabels = Object.keys(config.source.keep);
  const reportNone = (notice: string): number => {
    const unknown = isoDays.map((iso) => summariseVerdicts(iso, []));
    terminal.answer(`${notice}\n`, toObject(days, unknown, {}));
    return exitCode.failed;
  };
  return withReadOnlyLedger(config, reportNone, async (ledger) => {
    const verdicts: DayVerdicts[] = [];
    for (const iso of isoDays)
      verdicts.push(summariseVerdicts(iso, await ledger.listRuns({ day: iso, limit: runsLookedAt })));
    const compare = createHotelComparer({ hotels: ledger.hotels, clock });
    const today = businessDayAt(new Date(clock()), config.timezone).iso;
    const filter = { today, checkInBefore: options.checkInBefore, withKept: keptLabels.length > 0 };
    const complete = (list: BookingList) => withCases(withHotels(list, compare), ledger.cases);
    const affected = complete(await listAffectedBookings(ledger, verdicts, filter));
    const unanswered = options.unanswered
      ? complete(await listUnanswered(ledger, verdicts, filter))
      : undefined;
    const list = unanswered ?? affected;
    const listing: VerdictListing = {
      days: verdicts,
      isRange: days.isRange,
      lists: unanswered ? 'unanswered' : 'affected',
      count: list.count,
      bookings: await readFirst(list),
      hasHotels: (await ledger.hotels.latestLoad()) !== undefined,
      checkInBefore: options.checkInBefore,
      keptLabels,
      today,
    };
    const isKnown = list.count > 0 || verdicts.some(({ knowledge }) => knowledge === 'judged');
    const csv = isKnown ? options.csv : undefined;
    const subject = days.isRange ? `${days.from} to ${days.to}` : days.from;
    const details = { found: list.count, lists: listing.lists, csv: csv && terminal.locate(csv) };
    await recordLook(ledger, { action: 'affected', subject, details }, terminal);
    if (csv !== undefined) await writeCsv(list, listing, { ...options, csv }, terminal);
    await terminal.answerInPieces(
      renderVerdicts(listing, { command: terminal.command, csv }),
      renderLargeObject(toObject(days, verdicts, { affected, unanswered })),
    );
    return worstOf(verdicts.map(exitCodeOfDay));
  });
}

function chooseDays(day: string | undefined, { from, to }: AffectedOptions, yesterday: string): Days {
  if (day !== undefined && (from ?? to) !== undefined)
    throw new UsageError('name one day, or a range with --from and --to');
  if (from === undefined) {
    if (to !== undefined) throw new UsageError(`--to ${to} needs --from: the first day of the range`);
    return { from: day ?? yesterday, to: day ?? yesterday, isRange: false };
  }
  const last = to ?? yesterday;
  if (last < from) throw new UsageError(`--to ${last} is before --from ${from}`);
  return { from, to: last, isRange: true };
}

function listDays({ from, to }: Days, { timezone }: Config): string[] {
  const days: string[] = [];
  for (let day = createBusinessDay(from, timezone); day.iso <= to; day = day.next()) {
    if (days.length === daysAtOnce)
      throw new UsageError(`the range is longer than ${daysAtOnce} days; name a shorter one`);
    days.push(day.iso);
  }
  return days;
}

/** Enough for a terminal. */
async function readFirst(list: BookingList<CasedBooking>): Promise<readonly CasedBooking[]> {
  const first: CasedBooking[] = [];
  for await (const bookings of list.read({ from: 0, to: shown })) first.push(...bookings);
  return first;
}

async function writeCsv(
  list: BookingList<CasedBooking>,
  listing: VerdictListing,
  target: CsvTarget,
  terminal: Terminal,
): Promise<void> {
  await writeCsvFile(listingColumns(listing), target, terminal, async (add) => {
    for await (const bookings of list.read())
      await add(bookings.map((booking) => toListedCells(booking, listing)));
  });
}

interface Lists {
  readonly affected?: BookingList<CasedBooking>;
  readonly unanswered?: BookingList<CasedBooking> | undefined;
}

/** What `--json` prints. Unknown is null, never an empty list. */
function toObject(
  days: Days,
  verdicts: readonly DayVerdicts[],
  { affected, unanswered }: Lists,
): Record<string, unknown> {
  const toRecords = (list: BookingList<CasedBooking> | undefined): RecordChunks =>
    async function* () {
      for await (const bookings of list?.read() ?? [])
        yield bookings.map((booking) => toListedRecord(booking, days));
    };
  const counts = verdicts.map(countVerdicts);
  const listed = {
    affected: counts.some((one) => one.affected !== null) ? toRecords(affected) : null,
    unanswered: sumKnown(counts.map((one) => one.unanswered)),
    posted: counts.reduce((sum, { posted }) => sum + posted, 0),
    ...(unanswered && { unansweredBookings: toRecords(unanswered) }),
  };
  const [only] = counts;
  return days.isRange || !only
    ? { from: days.from, to: days.to, ...listed, days: counts }
    : { day: only.day, runId: only.runId, state: only.state, ...listed };
}

function countVerdicts({ day, runs: [run], knowledge, affected, unanswered, posted }: DayVerdicts) {
  return {
    day,
    runId: run?.id ?? null,
    state: run?.state ?? null,
    affected: knowledge === 'nothing-sent' ? 0 : affected,
    unanswered,
    posted,
  };
}

function exitCodeOfDay({ knowledge, runs }: DayVerdicts): ExitCode {
  const isAwaiting = runs.some(({ state }) => state === 'awaiting-result');
  switch (knowledge) {
    case 'judged':
      return isAwaiting ? exitCode.resultPending : exitCode.done;
    case 'nothing-sent':
      return exitCode.done;
    case 'awaiting-result':
      return isAwaiting ? exitCode.resultPending : exitCode.failed;
    case 'by-email':
    case 'no-run':
      return exitCode.failed;
  }
}
