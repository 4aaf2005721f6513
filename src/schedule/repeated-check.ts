import type { Schedule } from './slots.js';

export interface RepeatedCheckParts {
  readonly schedule: Schedule;
  /** Finds out what is due and does it. It must not reject, and must end soon after the signal aborts. */
  readonly check: (stop: AbortSignal) => Promise<void>;
  /** How often to check besides the slots: a slot may pass unnoticed. */
  readonly checkMs: number;
  /** Stops everything. */
  readonly signal: AbortSignal;
}

export interface RepeatedCheck {
  /** Checks for the first time, and starts to watch the schedule. Called once. */
  start(): void;
  /** Starts no more checks, aborts the one in progress, and waits for it. Idempotent. */
  close(): Promise<void>;
}

/**
 * Checks at the start, at each slot and every `checkMs`, one check at a time. What becomes due during a check is
 * checked right after it.
 */
export function createRepeatedCheck({ schedule, check, checkMs, signal }: RepeatedCheckParts): RepeatedCheck {
  const closing = new AbortController();
  const stop = AbortSignal.any([signal, closing.signal]);
  let timer: NodeJS.Timeout | undefined;
  let current: Promise<void> | undefined;
  let isAskedAgain = false;
  let closed: Promise<void> | undefined;

  async function work(): Promise<void> {
    do {
      isAskedAgain = false;
      await check(stop);
    } while (isAskedAgain && !stop.aborted);
  }

  function ask(): void {
    if (stop.aborted) return;
    isAskedAgain = true;
    current ??= work().finally(() => {
      current = undefined;
    });
  }

  async function close(): Promise<void> {
    closing.abort();
    clearInterval(timer);
    schedule.close();
    await current;
  }

  return {
    start() {
      if (stop.aborted) return;
      ask();
      timer = setInterval(ask, checkMs);
      schedule.start(ask);
    },
    close() {
      closed ??= close();
      return closed;
    },
  };
}
