import { tzOffset } from '@date-fns/tz';
import { scaleUtc } from 'd3-scale';
import { readLocalTime } from '../geography/time-zones.js';
import { nameDay } from './day-axis.js';

/** Instants in epoch milliseconds, from left to right. */
export interface TimeAxis {
  /** As a share of the width. */
  shareOf(instant: number): number;
  readonly ticks: readonly TimeTick[];
}

export interface TimeTick {
  readonly share: number;
  /** The local time; the day at midnight. */
  readonly label: string;
}

const minuteMs = 60_000;
/** A shorter time is shown as this long. */
const minMs = 5_000;
const maxTicks = 8;

export function createTimeAxis(from: number, to: number, timezone: string): TimeAxis {
  const length = Math.max(minMs, to - from);
  // Shifted, so that ticks are at full hours in the zone.
  const shift = tzOffset(timezone, new Date(from)) * minuteMs;
  const scale = scaleUtc().domain([from + shift, from + shift + length]);
  const ticks = chooseTicks((about) => scale.ticks(about)).map((tick) => tick.getTime() - shift);
  const hasSeconds = ticks.some((tick) => tick % minuteMs !== 0);
  const shareOf = (instant: number) => Math.min(1, Math.max(0, (instant - from) / length));
  return {
    shareOf,
    ticks: ticks.map((tick) => ({ share: shareOf(tick), label: labelTick(tick, timezone, hasSeconds) })),
  };
}

/** As many as fit a wide screen: the scale may return twice as many as requested. */
function chooseTicks(list: (about: number) => readonly Date[]): readonly Date[] {
  for (let about = maxTicks; about > 1; about -= 1) {
    const ticks = list(about);
    if (ticks.length <= maxTicks) return ticks;
  }
  return list(1);
}

function labelTick(instant: number, timezone: string, hasSeconds: boolean): string {
  const [day = '', time = ''] = readLocalTime(instant, timezone).split('T');
  // The seconds are the same in every zone.
  if (hasSeconds) return `${time}:${new Date(instant).toISOString().slice(17, 19)}`;
  return time === '00:00' ? nameDay(day) : time;
}
