import { formatCount, formatCountOf } from '../text/format.js';
import { isLessThanShare } from './share.js';

/** Few bookings don't count as a quiet day until they have been compared with what is usual. (Design 11.) */

export interface VolumeSettings {
  /** Fewer bookings than this are always too few. */
  readonly minimum?: number | undefined;
  /** A day has dropped if it has less than this share of what is usual. */
  readonly shareOfUsual: number;
  readonly onDrop: 'warn' | 'fail';
  /** Days that are neither compared nor compared with, YYYY-MM-DD. */
  readonly exceptions: readonly string[];
}

/** The accepted bookings of a day; `providers` is null where they were not counted. */
export interface Volume {
  readonly accepted: number;
  readonly providers: Readonly<Record<string, number>> | null;
}

export interface DayVolume extends Volume {
  /** YYYY-MM-DD */
  readonly day: string;
}

/** What good days were like. */
export interface VolumeHistory {
  /**
   * The newest successful run of each of these days that may complete it. Runs that topped a day up without counting all of
   * it are left out.
   */
  listVolumes(days: readonly string[]): Promise<DayVolume[]>;
}

/** A day with far fewer bookings than usual. */
export interface VolumeDrop {
  readonly accepted: number;
  /** Null if too few days are known. */
  readonly usual: number | null;
  /** Set if `accepted` is less. */
  readonly minimum?: number;
  /** Largest loss first. */
  readonly drops: readonly Drop[];
}

interface Drop {
  /** Null for the day as a whole. */
  readonly provider: string | null;
  readonly accepted: number;
  readonly usual: number | null;
}

const weeksCompared = 8;
/** A median of fewer days says little. */
const leastDays = 3;
/** A provider with fewer bookings a day varies too much to be compared. */
const leastUsualOfProvider = 20;
/** Providers named; the total says the rest. */
const maxDrops = 20;

/** The days with which a day is compared: the same weekday of the last eight weeks. */
export function daysToCompare(day: string, { exceptions }: Pick<VolumeSettings, 'exceptions'>): string[] {
  if (exceptions.includes(day)) return [];
  const days = Array.from({ length: weeksCompared }, (_, week) => {
    const date = new Date(`${day}T00:00:00Z`);
    date.setUTCDate(date.getUTCDate() - 7 * (week + 1));
    return date.toISOString().slice(0, 10);
  });
  return days.filter((one) => !exceptions.includes(one));
}

/**
 * Compares a day with the good days before it, in total and per provider. Only drops count. The usual number is the median, so
 * that a single odd day doesn't shift it, and a lasting change is usual after some weeks.
 */
export function findDrop(
  { day, ...counted }: DayVolume,
  earlier: readonly DayVolume[],
  settings: VolumeSettings,
): VolumeDrop | undefined {
  const { minimum = 0, shareOfUsual, exceptions } = settings;
  if (exceptions.includes(day)) return undefined;
  const { accepted } = counted;
  const usual = usualOf(earlier.map((one) => one.accepted));
  const isLess = (count: number, of: number | null) =>
    of !== null && isLessThanShare(count, of, shareOfUsual);
  const isBelow = accepted < minimum;
  const total = isBelow || isLess(accepted, usual) ? [{ provider: null, accepted, usual }] : [];
  const providers = compareProviders(counted, earlier).filter((one) => isLess(one.accepted, one.usual));
  const drops = [...total, ...providers.slice(0, maxDrops)];
  if (drops.length === 0) return undefined;
  return { accepted, usual, ...(isBelow && { minimum }), drops };
}

function compareProviders(counted: Volume, earlier: readonly Volume[]) {
  return listProviderVolumes(counted, earlier)
    .flatMap(({ usual, ...one }) =>
      usual === null || usual < leastUsualOfProvider ? [] : [{ ...one, usual }],
    )
    .sort((a, b) => b.usual - b.accepted - (a.usual - a.accepted) || (a.provider < b.provider ? -1 : 1));
}

export interface ProviderVolume {
  readonly provider: string;
  readonly accepted: number;
  /** Null if too few days are known. */
  readonly usual: number | null;
}

/** Each provider of the day or of earlier ones next to what is usual; none where the day's were not counted. */
export function listProviderVolumes({ providers }: Volume, earlier: readonly Volume[]): ProviderVolume[] {
  if (!providers) return [];
  const known = earlier.flatMap((one) => (one.providers ? [one.providers] : []));
  const names = new Set([providers, ...known].flatMap((counts) => Object.keys(counts)));
  const count = (counts: Readonly<Record<string, number>>, name: string) =>
    Object.hasOwn(counts, name) ? (counts[name] ?? 0) : 0;
  return [...names].map((provider) => ({
    provider,
    accepted: count(providers, provider),
    usual: usualOf(known.map((counts) => count(counts, provider))),
  }));
}

/** The median; null for too few days. */
export function usualOf(counts: readonly number[]): number | null {
  if (counts.length < leastDays) return null;
  const sorted = [...counts].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return Math.round(((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2);
}

/** One text per drop: "Bedlink: 0, usually 412". */
export function describeDrops({ minimum, drops }: VolumeDrop): string[] {
  return drops.map(({ provider, accepted, usual }) => {
    const usually = usual === null ? '' : `, usually ${formatCount(usual)}`;
    if (provider !== null) return `${provider}: ${formatCount(accepted)}${usually}`;
    const atLeast = minimum === undefined ? '' : `, at least ${formatCount(minimum)} expected`;
    return `${formatCountOf(accepted, 'booking')}${usually}${atLeast}`;
  });
}
