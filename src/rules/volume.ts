import { formatCount, formatCountOf } from '../base/format.js';
import { type CountedDay, type DayVolume, isSilent, type Volume, type VolumeComparison } from './run.js';
import { isLessThanShare } from './share.js';

/** Few bookings don't count as a quiet day until they have been compared with what is usual. */
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

/** The days with which a day may be compared, the newest first: those of the eight weeks before it. */
export function daysToCompare(day: string, exceptions: readonly string[] = []): string[] {
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
export function nameDrops({ drops }: VolumeComparison): string {
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
