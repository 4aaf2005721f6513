import type { Slots } from './slots.js';

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

/** The machine's clock may be set, and the machine may sleep. */
const longestWaitMs = 30_000;

/** A schedule by the timers of this process. After sleeping past slots it reports once, on waking. */
export function createTimedSchedule(slots: Slots): Schedule {
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  return {
    start(onSlot) {
      let due = slots.next(new Date());
      const wait = () => {
        if (isClosed || !due) return;
        timer = setTimeout(look, Math.min(due.getTime() - Date.now(), longestWaitMs));
      };
      const look = () => {
        if (due && due.getTime() <= Date.now()) {
          due = slots.next(new Date());
          onSlot();
        }
        wait();
      };
      wait();
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
