import { tzOffset } from '@date-fns/tz';
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
  const ticks = listTicks(from + shift, length).map((tick) => tick - shift);
  const hasSeconds = ticks.some((tick) => tick % minuteMs !== 0);
  const shareOf = (instant: number) => Math.min(1, Math.max(0, (instant - from) / length));
  return {
    shareOf,
    ticks: ticks.map((tick) => ({ share: shareOf(tick), label: labelTick(tick, timezone, hasSeconds) })),
  };
}

/** In the order of their length: round times, as people count them. */
const steps = [
  ...[1, 5, 15, 30].map((seconds) => seconds * 1_000),
  ...[1, 5, 15, 30, 60, 180, 360, 720].map((minutes) => minutes * minuteMs),
  ...[1, 2, 7, 28].map((days) => days * 1_440 * minuteMs),
];

/** As many as fit a wide screen. */
function listTicks(start: number, length: number): readonly number[] {
  const step = steps.find((one) => countTicks(start, length, one) <= maxTicks) ?? length / maxTicks;
  const first = Math.ceil(start / step) * step;
  return Array.from({ length: countTicks(start, length, step) }, (_, index) => first + index * step);
}

function countTicks(start: number, length: number, step: number): number {
  return Math.floor((start + length) / step) - Math.ceil(start / step) + 1;
}

function labelTick(instant: number, timezone: string, hasSeconds: boolean): string {
  const [day = '', time = ''] = readLocalTime(instant, timezone).split('T');
  // The seconds are the same in every zone.
  if (hasSeconds) return `${time}:${new Date(instant).toISOString().slice(17, 19)}`;
  return time === '00:00' ? nameDay(day) : time;
}
