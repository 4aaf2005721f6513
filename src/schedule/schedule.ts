import { Cron } from 'croner';
import { cronRules, type Slots } from './slots.js';

/**
 * Reports when a slot of a cron pattern has come.
 *
 * This is only a hint to check what is due, and may come late. Which days are due is decided from the ledger (due-days.ts), so
 * each process has a schedule of its own.
 */
export interface Schedule {
  /** Starts to report slots. Called once. */
  start(onSlot: () => void): void;
  /** Stops reporting slots. Idempotent. */
  close(): void;
}

/** A schedule by the timers of this process. After sleeping past slots it reports once, on waking. */
export function createCronerSchedule(slots: Slots): Schedule {
  let cron: Cron | undefined;
  return {
    start(onSlot) {
      cron = new Cron(slots.pattern, cronRules(slots.zone), onSlot);
    },
    close() {
      cron?.stop();
    },
  };
}
