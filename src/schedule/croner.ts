import { Cron } from 'croner';
import type { Schedule } from './schedule.js';
import { cronRules, type Slots } from './slots.js';

/**
 * The schedule of a single process, by its own timers. A process that slept past slots tells the last of them when it
 * wakes.
 */
export function createCronerSchedule(slots: Slots): Schedule {
  let cron: Cron | undefined;
  return {
    async start(onSlot) {
      cron = new Cron(slots.pattern, cronRules(slots.zone), () => {
        // The library says when it went off, not for which slot.
        const slot = slots.last(new Date());
        if (slot) onSlot(slot);
      });
    },
    async close() {
      cron?.stop();
    },
  };
}
