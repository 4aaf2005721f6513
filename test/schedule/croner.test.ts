import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createCronerSchedule } from '../../src/schedule/schedule.js';
import { createSlots } from '../../src/schedule/slots.js';
import { describeScheduleContract } from '../contracts/schedule.js';

describeScheduleContract('croner', { create: async (slots) => createCronerSchedule(slots) });

describe('the schedule of a single process, with a fake clock', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each([
    ['leave 02:30 out', '2026-03-28T00:00:00Z', ['2026-03-28T01:30', '2026-03-29T01:00', '2026-03-30T00:30']],
    [
      'show 02:30 twice',
      '2026-10-24T00:00:00Z',
      ['2026-10-24T00:30', '2026-10-25T00:30', '2026-10-26T01:30'],
    ],
  ])('reports one slot per night across the night in which the clocks %s', async (_name, from, expected) => {
    vi.setSystemTime(new Date(from));
    const told: string[] = [];
    const schedule = createCronerSchedule(createSlots('30 2 * * *', 'Europe/Madrid'));
    await schedule.start((slot) => told.push(slot.toISOString().slice(0, 16)));
    await vi.advanceTimersByTimeAsync(3 * 24 * 3_600_000);
    await schedule.close();
    expect(told).toEqual(expected);
  });

  it('reports the last of the slots that the process slept through', async () => {
    vi.setSystemTime(new Date('2026-11-20T12:00:00Z'));
    const told: string[] = [];
    const schedule = createCronerSchedule(createSlots('30 2 * * *', 'UTC'));
    await schedule.start((slot) => told.push(slot.toISOString()));
    vi.setSystemTime(new Date('2026-11-23T09:00:00Z'));
    await vi.advanceTimersByTimeAsync(60_000);
    await schedule.close();
    expect(told).toEqual(['2026-11-23T02:30:00.000Z']);
  });
});
