import type { MappingReader, ProviderHotel } from '../../mappings/mapping-copy.js';
import type { History } from '../history.js';
import type { BatchReader } from '../ledger.js';
import type { Run } from '../run.js';
import { readNamelessFields } from '../stored/stored-line.js';
import { readStoredBatches } from '../stored-batches.js';
import { type Judged, type UnknownReason, unansweredReasons } from '../verdict.js';
import type { DayVerdicts } from './day-verdicts.js';

/** A booking of the file as shown to people and programs. */
export interface ListedBooking {
  /** YYYY-MM-DD */
  readonly day: string;
  /** Under the service's names (spec 2.5), without the guest's name. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** The master hotel that the local copy of the mappings has now; null if it has none. */
  readonly copyServiceId: number | null;
  /** Why it has no verdict. */
  readonly verdictReason?: UnknownReason;
}

interface ListingLedger extends BatchReader, Pick<History, 'nextJudged'> {
  readonly mappings: Pick<MappingReader, 'lookUp'>;
}

interface ListingFilter {
  /** Only bookings whose check-in is before this day, or unknown: it might be tomorrow. */
  readonly checkInBefore?: string | undefined;
}

/** The bookings that results mark as incorrectly mapped, nearest check-in first. */
export function listAffected(
  ledger: ListingLedger,
  days: readonly DayVerdicts[],
  filter: ListingFilter = {},
): Promise<ListedBooking[]> {
  return list(ledger, days, filter, (run) => readJudged(ledger, run, 'incorrect'));
}

/** The bookings of files without a verdict, each with its reason, nearest check-in first. */
export function listUnanswered(
  ledger: ListingLedger,
  days: readonly DayVerdicts[],
  filter: ListingFilter = {},
): Promise<ListedBooking[]> {
  return list(ledger, days, filter, (run) => readUnanswered(ledger, run));
}

interface Lines {
  readonly lines: readonly string[];
  readonly verdictReason?: UnknownReason;
}

type Listed = Omit<ListedBooking, 'copyServiceId'>;

async function list(
  { mappings }: ListingLedger,
  days: readonly DayVerdicts[],
  { checkInBefore }: ListingFilter,
  read: (run: Run) => AsyncIterable<Lines>,
): Promise<ListedBooking[]> {
  const listed: Listed[] = [];
  for (const { day, runs } of days) {
    for (const run of runs) {
      for await (const { lines, verdictReason } of read(run)) {
        const bookings = lines.map((line) => ({
          day,
          fields: readNamelessFields(line, 'file'),
          ...(verdictReason && { verdictReason }),
        }));
        listed.push(...bookings.filter((booking) => isBefore(booking, checkInBefore)));
      }
    }
  }
  return addCopy(mappings, listed.sort(byCheckIn));
}

function isBefore(booking: Listed, day: string | undefined): boolean {
  return day === undefined || checkInOf(booking) < day;
}

/** The sort is stable. */
function byCheckIn(a: Listed, b: Listed): number {
  const [first, second] = [checkInOf(a), checkInOf(b)];
  if (first === second) return 0;
  return first < second ? -1 : 1;
}

/** An unknown check-in comes before all others: it might be tomorrow. */
function checkInOf({ fields: { CheckInDate = '' } }: Listed): string {
  return String(CheckInDate);
}

/** As many as one look-up takes. */
const hotelsPerLookUp = 1_000;

async function addCopy(
  mappings: Pick<MappingReader, 'lookUp'>,
  bookings: readonly Listed[],
): Promise<ListedBooking[]> {
  const listed: ListedBooking[] = [];
  for (let start = 0; start < bookings.length; start += hotelsPerLookUp) {
    const chunk = bookings.slice(start, start + hotelsPerLookUp);
    const found = await mappings.lookUp(chunk.map(toHotel));
    listed.push(
      ...chunk.map((booking, index) => ({ ...booking, copyServiceId: found[index]?.serviceId ?? null })),
    );
  }
  return listed;
}

/** A booking without its provider's hotel finds nothing. */
function toHotel({ fields: { ProviderName = '', ProviderHotelId = '' } }: Listed): ProviderHotel {
  return { providerName: String(ProviderName), providerHotelId: String(ProviderHotelId) };
}

/** One batch at a time. */
async function* readJudged(ledger: ListingLedger, { id }: Run, judged: Judged): AsyncGenerator<Lines> {
  const next = (after?: number) => ledger.nextJudged(id, judged, after);
  for (let page = await next(); page; page = await next(page.batch)) yield { lines: page.lines };
}

async function* readUnanswered(ledger: ListingLedger, run: Run): AsyncGenerator<Lines> {
  const { file } = run;
  if (file?.verdicts) {
    for (const reason of unansweredReasons) {
      for await (const { lines } of readJudged(ledger, run, reason)) yield { lines, verdictReason: reason };
    }
    return;
  }
  if (file?.rows === undefined) return;
  const verdictReason = file.triggeredAt === undefined ? 'not-delivered' : 'awaiting-result';
  for await (const { lines } of readStoredBatches(ledger, run, 'file')) {
    const stored = lines.toString().split('\n');
    yield { lines: stored.filter((line) => line !== ''), verdictReason };
  }
}
