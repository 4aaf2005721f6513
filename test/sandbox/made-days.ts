import { type DayFormat, renderDay } from '../../src/sandbox/bookings/day-text.js';
import type { MadeDay } from '../../src/sandbox/bookings/made-bookings.js';
import type { MadeRecord } from '../../src/sandbox/bookings/record-formats.js';
import { createWorld, isCorrectlyMapped } from '../../src/sandbox/world/world.js';

export const world = createWorld({ seed: 1 });

export const madeDay = (changes: Partial<MadeDay> = {}): MadeDay => ({
  day: '2026-11-20',
  count: 20_000,
  seed: 1,
  world,
  wrongShare: 0.02,
  ...changes,
});

/** The whole text with its counts. */
export async function textOf(day: MadeDay, format: DayFormat) {
  const rendered = renderDay(day, format);
  let text = '';
  for await (const chunk of rendered.chunks) text += chunk;
  return { text, counts: rendered.counts() };
}

/** Decided by the world, independently of the generator's own flag. */
export function isWronglyMapped({ serviceId, providerName, providerHotelId }: MadeRecord): boolean {
  const booked = {
    serviceId: Number(serviceId),
    providerName: providerName?.trim() || undefined,
    providerHotelId: providerHotelId?.trim() || undefined,
  };
  return !isCorrectlyMapped(booked, world);
}
