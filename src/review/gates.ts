import type { ServiceField } from '../booking/booking.js';
import { plausibleYears } from '../booking/stay.js';
import {
  type CountedDay,
  type DayVolume,
  isSilent,
  type Volume,
  type VolumeComparison,
} from '../ledger/run.js';
import { formatCount, formatCountOf } from '../text/format.js';
import type { Repetition } from './collect/repeated-day.js';
import type { BookingStore } from './collect/store-bookings.js';
import type { SourceError } from './source.js';

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
  { read, filtered, rejected, dates }: BookingStore['counts'],
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
      `check that the source holds this day and not an earlier one, or accept it with run --day ${day} --accept-repeated`,
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

/** Few bookings don't count as a quiet day until they have been compared with what is usual. (Design 11.) */
export interface VolumeSettings {
  /** Fewer bookings than this are always too few. */
  readonly minimum?: number | undefined;
  /** A day has dropped if it has less than this share of what is usual; half by default, with a warning where less is unusual. */
  readonly shareOfUsual?: number | undefined;
  readonly onDrop: 'warn' | 'fail';
  /** Days that are neither compared nor compared with, YYYY-MM-DD. */
  readonly exceptions: readonly string[];
}

const usualShare = 0.5;
/** Where days vary little, fewer bookings than this share are a warning. */
const steadyShare = 0.75;
/** So many days that vary by less than that share of the usual number are steady. */
const leastSteadyDays = 8;
const steadySpread = 0.1;
const weeksCompared = 8;
/** A median of fewer days of one weekday, or of fewer days with a provider, says little. */
export const leastDays = 3;
/** A provider with fewer bookings a day varies too much to be compared. */
const leastUsualOfProvider = 20;
/** Providers named; the total says the rest. */
const maxDrops = 20;

/** The days with which a day may be compared: those of the eight weeks before it. */
export function daysToCompare(day: string, { exceptions }: Pick<VolumeSettings, 'exceptions'>): string[] {
  if (exceptions.includes(day)) return [];
  const days = Array.from({ length: 7 * weeksCompared }, (_, before) => {
    const date = new Date(`${day}T00:00:00Z`);
    date.setUTCDate(date.getUTCDate() - before - 1);
    return date.toISOString().slice(0, 10);
  });
  return days.filter((one) => !exceptions.includes(one));
}

/**
 * The good days with which a day is compared: those of the same weekday or, while fewer than three of them are known, all.
 *
 * @param earlier the good ones of `daysToCompare`
 */
export function chooseCompared<One extends { readonly day: string }>(
  day: string,
  earlier: readonly One[],
): { readonly days: readonly One[]; readonly isOfWeekday: boolean } {
  const ofWeekday = earlier.filter((one) => weekdayOf(one.day) === weekdayOf(day));
  const isOfWeekday = ofWeekday.length >= leastDays;
  return { days: isOfWeekday ? ofWeekday : earlier, isOfWeekday };
}

/** Weekends may well be quieter than the other days that they are compared with. @param share of what is usual on those */
export function shareExpected(share: number, day: string, isOfWeekday: boolean): number {
  return isOfWeekday || !isWeekend(day) ? share : share / 2;
}

/** From 0 for a Sunday. */
function weekdayOf(day: string): number {
  return new Date(`${day}T00:00:00Z`).getUTCDay();
}

/**
 * Compares a day with the good days before it, in total and per provider. Only drops count. The usual number is the median, so
 * that a single odd day doesn't shift it, and a lasting change is usual after some weeks. Undefined for an exception.
 */
export function compareVolume(
  { day, ...counted }: DayVolume,
  earlier: readonly DayVolume[],
  settings: VolumeSettings,
): VolumeComparison | undefined {
  const { minimum = 0, shareOfUsual = usualShare, exceptions } = settings;
  if (exceptions.includes(day)) return undefined;
  const { accepted } = counted;
  const { days, isOfWeekday } = chooseCompared(day, earlier);
  const share = shareExpected(shareOfUsual, day, isOfWeekday);
  const usual = usualOf(days.map((one) => one.accepted));
  const isLess = (count: number, of: number | null) => of !== null && isLessThanShare(count, of, share);
  const isBelow = accepted < minimum;
  const total = isBelow || isLess(accepted, usual) ? [{ provider: null, accepted, usual }] : [];
  const isLow =
    settings.shareOfUsual === undefined &&
    total.length === 0 &&
    usual !== null &&
    isLessThanShare(accepted, usual, steadyShare) &&
    areSteady(day, days, usual);
  const providers = compareProviders(counted, days).filter((one) => isLess(one.accepted, one.usual));
  const drops = [...total, ...providers.slice(0, maxDrops)];
  return { accepted, usual, ...(isBelow && { minimum }), ...(isLow && { isLow }), drops };
}

/** Whether less than the usual is unusual on such a day. Its weekday must be among them: the first Sunday may well be quieter. */
function areSteady(day: string, days: readonly DayVolume[], usual: number): boolean {
  const counts = days.map(({ accepted }) => accepted);
  return (
    days.length >= leastSteadyDays &&
    days.some((one) => weekdayOf(one.day) === weekdayOf(day)) &&
    isLessThanShare(Math.max(...counts) - Math.min(...counts), usual, steadySpread)
  );
}

export function isWeekend(day: string): boolean {
  return [0, 6].includes(weekdayOf(day));
}

function compareProviders(counted: Volume, earlier: readonly Volume[]) {
  return listProviderVolumes(counted, earlier)
    .flatMap(({ usual, ...one }) =>
      usual === null || usual < leastUsualOfProvider ? [] : [{ ...one, usual }],
    )
    .sort((a, b) => b.usual - b.accepted - (a.usual - a.accepted) || (a.provider < b.provider ? -1 : 1));
}

/**
 * Each provider of the day or of those that it is compared with next to what is usual, which is null if too few days are known;
 * none where the day's were not counted.
 */
export function listProviderVolumes({ providers }: Volume, earlier: readonly Volume[]) {
  if (!providers) return [];
  const known = earlier.flatMap((one) => (one.providers ? [one.providers] : []));
  const names = new Set([providers, ...known].flatMap((counts) => Object.keys(counts)));
  return [...names].map((provider) => ({
    provider,
    accepted: countOf(providers, provider),
    usual: known.length < leastDays ? null : usualOf(known.map((counts) => countOf(counts, provider))),
  }));
}

function countOf(counts: Readonly<Record<string, number>>, provider: string): number {
  return Object.hasOwn(counts, provider) ? (counts[provider] ?? 0) : 0;
}

/** Adds since when each silent provider was known to be silent. @param earlier the days before, the newest first */
export function noteSilences(comparison: VolumeComparison, earlier: readonly CountedDay[]): VolumeComparison {
  const drops = comparison.drops.map((drop) => {
    const silentSince = isSilent(drop) ? findSilence(drop.provider, earlier) : undefined;
    return silentSince === undefined ? drop : { ...drop, silentSince };
  });
  return { ...comparison, drops };
}

/** The first day that found the provider silent since it last had a booking; undefined if none did. */
function findSilence(provider: string, earlier: readonly CountedDay[]): string | undefined {
  let since: string | undefined;
  for (const { day, providers, silent } of earlier) {
    if (countOf(providers, provider) > 0) break;
    if (silent.includes(provider)) since = day;
  }
  return since;
}

/** The median; null without any day. */
export function usualOf(counts: readonly number[]): number | null {
  if (counts.length === 0) return null;
  const sorted = [...counts].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return Math.round(((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2);
}

/** What a comparison that warns is called. */
export function nameDrops({ drops }: Pick<VolumeComparison, 'drops'>): string {
  return `${drops.length > 0 ? 'far fewer' : 'fewer'} bookings than usual`;
}

/** One text per drop: "Bedlink: 0, usually 412". */
export function describeDrops({ accepted, usual, minimum, isLow, drops }: VolumeComparison): string[] {
  const total = isLow ? [{ provider: null, accepted, usual }] : [];
  return [...total, ...drops].map(({ provider, accepted, usual }) => {
    const usually = usual === null ? '' : `, usually ${formatCount(usual)}`;
    if (provider !== null) return `${provider}: ${formatCount(accepted)}${usually}`;
    const atLeast = minimum === undefined ? '' : `, at least ${formatCount(minimum)} expected`;
    return `${formatCountOf(accepted, 'booking')}${usually}${atLeast}`;
  });
}

/** Tolerance for the rounding of binary fractions. */
const rounding = 1e-6;

/** True when `part` is more than the share of `whole`: 29 of 100 is not more than 0.29. */
export function isMoreThanShare(part: number, whole: number, share: number): boolean {
  return part > share * whole + rounding;
}

/** True when `part` is less than the share of `whole`: 29 of 100 is not less than 0.29. */
function isLessThanShare(part: number, whole: number, share: number): boolean {
  return part < share * whole - rounding;
}

/** 0.07 as 7% */
export function formatShare(share: number): string {
  return `${Number((share * 100).toFixed(4))}%`;
}
