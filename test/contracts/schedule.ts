import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Schedule } from '../../src/schedule/schedule.js';
import { createSlots, type Slots } from '../../src/schedule/slots.js';
import { patienceMs } from '../support/patience.js';

export const everySecond = createSlots('* * * * * *', 'UTC');

/** The contract of every adapter of the schedule. `create` makes one in a place without a schedule. */
export function describeScheduleContract(
  name: string,
  { create }: { readonly create: (slots: Slots) => Promise<Schedule> },
): void {
  describe(`the schedule contract: ${name}`, () => {
    const schedules: Schedule[] = [];
    afterEach(async () => {
      await Promise.all(schedules.splice(0).map((schedule) => schedule.close()));
    });

    async function start(slots: Slots): Promise<{ schedule: Schedule; slotsSeen: Date[]; early: Date[] }> {
      const schedule = await create(slots);
      schedules.push(schedule);
      const slotsSeen: Date[] = [];
      const early: Date[] = [];
      await schedule.start((slot) => {
        slotsSeen.push(slot);
        if (slot.getTime() > Date.now()) early.push(slot);
      });
      return { schedule, slotsSeen, early };
    }

    it('reports each slot once, as the instant when it was due, and not before its time', async () => {
      const { slotsSeen, early } = await start(everySecond);
      await waitForSlots(slotsSeen, 3);
      const slots = slotsSeen.slice(0, 3).map((slot) => slot.getTime());
      const first = slots[0] ?? 0;
      expect(first % 1_000).toBe(0);
      expect(slots).toEqual([first, first + 1_000, first + 2_000]);
      expect(early).toEqual([]);
    });

    it('interprets the pattern in its time zone', async () => {
      // 14 hours ahead of UTC: in any other zone these hours are far off.
      const hour = (Math.floor(Date.now() / 3_600_000) + 14) % 24;
      const { slotsSeen } = await start(
        createSlots(`* * ${hour},${(hour + 1) % 24} * * *`, 'Pacific/Kiritimati'),
      );
      await waitForSlots(slotsSeen, 1);
      expect(slotsSeen[0]?.getTime()).toBeLessThanOrEqual(Date.now());
    });

    it('reports nothing more once closed, however often it is closed', async () => {
      const closed = await start(everySecond);
      await waitForSlots(closed.slotsSeen, 1);
      await closed.schedule.close();
      await closed.schedule.close();
      const seenBefore = closed.slotsSeen.length;
      const { slotsSeen } = await start(everySecond);
      await waitForSlots(slotsSeen, 2);
      expect(closed.slotsSeen).toHaveLength(seenBefore);
    });

    it('can be closed without being started', async () => {
      const schedule = await create(everySecond);
      await expect(schedule.close()).resolves.toBeUndefined();
    });
  });
}

export async function waitForSlots(slotsSeen: readonly Date[], count: number): Promise<void> {
  await vi.waitUntil(() => slotsSeen.length >= count, { timeout: patienceMs });
}
