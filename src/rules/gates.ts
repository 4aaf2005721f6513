import { formatCountOf } from '../base/format.js';
import type { ServiceField } from '../booking/booking.js';
import type { DateCounts } from '../booking/normalise.js';
import type { SourceError } from '../booking/source.js';
import { plausibleYears } from '../booking/stay.js';
import { formatShare, isMoreThanShare } from './share.js';
import type { VolumeSettings } from './volume.js';

/** Whether what was collected of a day can be trusted: its limits, and the volumes of the days before it. */
export interface CollectLimits {
  /** The share of records that may be rejected, and of dates that may be unreadable. */
  readonly maxRejectedShare: number;
  readonly emptyDay: 'succeed' | 'fail';
  /** The share of a file run's bookings that may go by body; without it, all of them. */
  readonly maxPostedShare?: number;
  /** The share of bookings that may lack their provider or its hotel id; all by default. */
  readonly incomplete?: {
    readonly maxShare: number;
    /** Which of the two the source has. */
    readonly provider: boolean;
    readonly hotelId: boolean;
  };
  /** The share of bookings that may be equal to some that an earlier day sent; all by default. */
  readonly maxRepeatedShare?: number;
  readonly batchSize: number;
  /** Without them volumes are counted, not compared. */
  readonly volume?: VolumeSettings;
  /** Fewer rejects or unreadable dates than this are accepted whatever their share. */
  readonly leastFaults?: number;
  /** Whether a source that is not there yet counts as one without bookings. */
  readonly mayBeMissing?: boolean;
}

/** How many bookings there must be for a share of them to say something. */
const leastBookings = 20;

/** The limits for a day that is not over: having few bookings, or none, is not a fault of its source. */
export function limitsOfUnfinishedDay({
  volume: _,
  incomplete: __,
  maxRepeatedShare: ___,
  ...limits
}: CollectLimits): CollectLimits {
  return { ...limits, emptyDay: 'succeed', leastFaults: leastBookings, mayBeMissing: true };
}

/** Whether a source may fail so: it may have nothing yet of a day that is not over, or too little to tell what it lacks. */
export function isExpectedOf(
  { fault }: SourceError,
  read: number,
  { mayBeMissing = false, leastFaults = 0 }: CollectLimits,
): boolean {
  if (fault === 'missing') return mayBeMissing && read === 0;
  return fault === 'missing-member' && read < leastFaults;
}

/** The collected day can't be trusted: nothing is sent, and the next `run` collects it again. */
export class CollectError extends Error {
  override readonly name = 'CollectError';
  constructor(
    readonly code: string,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

/** A day with fewer records is measured by half of them. */
const leastRecordsForShare = 20;

/** A total row is a large share of a small day, and the only record of an empty one: one reject is never too many there. */
export function areTooManyRejects(rejected: number, considered: number, maxRejectedShare: number): boolean {
  if (considered >= leastRecordsForShare) return isMoreThanShare(rejected, considered, maxRejectedShare);
  return rejected > 1 && isMoreThanShare(rejected, considered, Math.max(maxRejectedShare, 0.5));
}

/** A broken source must not look like a quiet night. */
export function checkGates(
  {
    read,
    filtered,
    rejected,
    dates,
  }: Record<'read' | 'filtered' | 'rejected', number> & { readonly dates: DateCounts },
  { maxRejectedShare, emptyDay, leastFaults = 0 }: CollectLimits,
  source: string,
): void {
  const considered = read - filtered;
  if (rejected >= leastFaults && areTooManyRejects(rejected, considered, maxRejectedShare)) {
    const percent = formatShare(maxRejectedShare);
    throw new CollectError(
      'too-many-rejects',
      `${rejected} of ${considered} records of ${source} cannot be sent, more than maxRejectedShare allows (${percent})`,
    );
  }
  if (considered === rejected && emptyDay === 'fail') {
    const why = filtered > 0 ? ` that source.where takes (${filtered} filtered)` : '';
    const but = rejected > 0 ? `, only ${formatCountOf(rejected, 'record')} that cannot be sent` : '';
    throw new CollectError(
      'empty-day',
      `${source} holds no booking${why}${but}; if days without bookings are normal, set emptyDay: succeed`,
    );
  }
  if (dates.unreadable >= leastFaults && isMoreThanShare(dates.unreadable, dates.given, maxRejectedShare)) {
    throw new CollectError(
      'too-many-unreadable-dates',
      `${dates.unreadable} of ${dates.given} dates of ${source} are not calendar dates: check source.dateFormat`,
    );
  }
  const { implausible, checkIns } = dates;
  // A single one is a slip, and says nothing about the format.
  if (implausible >= Math.max(leastFaults, 2) && isMoreThanShare(implausible, checkIns, maxRejectedShare)) {
    const { before, after } = plausibleYears;
    throw new CollectError(
      'too-many-implausible-dates',
      `${implausible} of ${checkIns} check-ins of ${source} are more than ${before} years before or ${after} years after the business day: check source.dateFormat`,
    );
  }
}

/**
 * The service matches a booking by its provider and the provider's hotel id: without them it is reviewed, and nothing comes of
 * it.
 *
 * @param lacking how many bookings lack nothing, their provider, its hotel id, and both
 */
export function checkIncomplete(
  lacking: readonly number[],
  { incomplete: limit }: CollectLimits,
  source: string,
): void {
  if (limit === undefined) return;
  const { provider, hotelId, maxShare } = limit;
  const [, noProvider = 0, noHotelId = 0, neither = 0] = lacking;
  const incomplete =
    (provider ? noProvider : 0) + (hotelId ? noHotelId : 0) + (provider || hotelId ? neither : 0);
  const of = lacking.reduce((sum, bookings) => sum + bookings, 0);
  if (of < leastBookings || !isMoreThanShare(incomplete, of, maxShare)) return;
  const fields = [
    { field: 'ProviderName', without: provider ? noProvider + neither : 0 },
    { field: 'ProviderHotelId', without: hotelId ? noHotelId + neither : 0 },
  ].filter(({ without }) => without > 0);
  const shown = fields.map(({ field, without }) => `${field} (${without})`).join(' and ');
  const none = fields.map(({ field }) => `${field}: false`).join(', ');
  throw new CollectError(
    'too-many-incomplete',
    `${incomplete} of ${of} bookings of ${source} lack ${shown}, more than maxIncompleteShare allows (${formatShare(maxShare)}); nothing was sent. ` +
      `Check the export and source.columns; if the source has none, say so with source.columns: { ${none} }; if so many bookings lack it, raise maxIncompleteShare`,
  );
}

/** Whether a day has enough bookings to be compared with the days before it. */
export function isToCompare(accepted: number, { maxRepeatedShare = 1 }: CollectLimits): boolean {
  return accepted >= leastBookings && maxRepeatedShare < 1;
}

/** How many of a day's bookings an earlier day sent, equal in all fields. */
export interface Repetition {
  readonly bookings: number;
  /** Whether that number is an estimate from a sample. */
  readonly isEstimate: boolean;
  /** Days that sent some of them, YYYY-MM-DD, the latest first. */
  readonly days: readonly string[];
  /** Earlier days that sent bookings; and those of them that could not be compared at all. */
  readonly sent: number;
  readonly incomparable: number;
}

/** Yesterday's file again looks like any other day. */
export function checkRepeated(
  { bookings, isEstimate, days }: Repetition,
  accepted: number,
  { maxRepeatedShare = 1 }: CollectLimits,
  { source, day }: { readonly source: string; readonly day: string },
): void {
  if (!isMoreThanShare(bookings, accepted, maxRepeatedShare)) return;
  throw new CollectError(
    'source-repeated',
    `${isEstimate ? 'about ' : ''}${bookings} of ${accepted} bookings of ${source} are equal in all fields to bookings that ${days.join(', ')} sent, more than source.maxRepeatedShare allows (${formatShare(maxRepeatedShare)}); nothing was sent: ` +
      `check that the source holds this day and not an earlier one, or accept it with run ${day} --accept-repeated`,
  );
}

/**
 * By body there is no result to compare with: a day meant for the file must not go by body unnoticed.
 *
 * @param posted with how many bookings each field keeps out of the file
 */
export function checkPosted(
  { posted, of, obstacles }: { posted: number; of: number; obstacles: ReadonlyMap<ServiceField, number> },
  { maxPostedShare = 1 }: CollectLimits,
  source: string,
): void {
  if (!isMoreThanShare(posted, of, maxPostedShare)) return;
  throw new CollectError(
    'too-many-posted',
    `${posted} of ${of} bookings of ${source} lack a field or hold one that reads as NULL, so they cannot be in the review file and would go by body, which brings no result: more than file.maxPostedShare allows (${formatShare(maxPostedShare)}).${describeObstacle(obstacles)} Complete the source; or set file.incomplete: leave-empty, if the service accepts empty cells; or raise file.maxPostedShare; or set delivery: body`,
  );
}

/** Names the field to complete first: the one that is missing most often. */
function describeObstacle(obstacles: ReadonlyMap<ServiceField, number>): string {
  const [first, ...others] = [...obstacles].sort(([, a], [, b]) => b - a);
  if (!first) return '';
  const [field, count] = first;
  const rest = others.map(([name, missing]) => `${name} (${missing})`).join(', ');
  return ` Missing most often: ${field} (${count})${rest === '' ? '' : `, then ${rest}`}.`;
}

/** The caller of the hook says how many records the day has. */
export function checkExpected(
  { read, filtered }: { readonly read: number; readonly filtered: number },
  expected: number | undefined,
  source: string,
): void {
  const records = read - filtered;
  if (expected === undefined || records === expected) return;
  const without = filtered === 0 ? '' : `, without the ${filtered} that source.where excludes`;
  throw new CollectError(
    'unexpected-count',
    `${source} holds ${formatCountOf(records, 'record')}${without}, but the end-of-day hook expected ${expected}: ` +
      'check that the export was complete',
  );
}
