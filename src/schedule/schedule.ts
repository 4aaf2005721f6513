import { Cron } from 'croner';
import { cronRules, type Slots } from './slots.js';

/**
 * Reports when a slot of a cron pattern has come.
 *
 * A reported slot is only a hint to check for due days: it may come late, twice, or not at all. Which days are due is
 * decided from the ledger (due-days.ts).
 */
export interface Schedule {
  /**
   * Starts to report slots. Called once. It returns within seconds even where the server that keeps the schedule is away; the
   * schedule is set as soon as the server is back.
   */
  start(onSlot: (slot: Date) => void): Promise<void>;
  /** Stops reporting slots. Returns within seconds, whatever is away. Idempotent. */
  close(): Promise<void>;
}

/** The schedule of a single process, by its own timers. A process that slept past slots reports the last of them on waking. */
export function createCronerSchedule(slots: Slots): Schedule {
  let cron: Cron | undefined;
  return {
    async start(onSlot) {
      cron = new Cron(slots.pattern, cronRules(slots.zone), () => {
        // The library says when it fired, not for which slot.
        const slot = slots.last(new Date());
        if (slot) onSlot(slot);
      });
    },
    async close() {
      cron?.stop();
    },
  };
}
