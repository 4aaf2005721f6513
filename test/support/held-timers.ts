import { onTestFinished, vi } from 'vitest';
import { patienceMs } from './patience.js';

export interface HeldTimers {
  /** Lets those that are running end now, and waits until what they limit has ended. */
  pass(): Promise<void>;
}

/**
 * Watches the timers of exactly this length, so that a test of a fixed limit need not wait for it. Those of commands that
 * are called in this process: in others, the limit takes its time.
 */
export function holdTimers(milliseconds: number): HeldTimers {
  const { setTimeout, clearTimeout } = globalThis;
  const running = new Map<unknown, () => void>();
  const set = vi.spyOn(globalThis, 'setTimeout').mockImplementation(((
    ring: (...values: unknown[]) => void,
    ms?: number,
    ...values: unknown[]
  ) => {
    if (ms !== milliseconds) return setTimeout(ring, ms, ...values);
    const timer = setTimeout(() => {
      running.delete(timer);
      ring(...values);
    }, ms);
    running.set(timer, () => ring(...values));
    return timer;
  }) as typeof setTimeout);
  const clear = vi.spyOn(globalThis, 'clearTimeout').mockImplementation((timer) => {
    running.delete(timer);
    clearTimeout(timer);
  });
  onTestFinished(() => {
    set.mockRestore();
    clear.mockRestore();
  });
  return {
    async pass() {
      const passed = [...running];
      await vi.waitUntil(
        () => {
          const left = passed.filter(([timer]) => running.has(timer));
          // Again, if something was still arriving when the limit was over.
          for (const [, ring] of left) ring();
          return left.length === 0;
        },
        { timeout: patienceMs, interval: 20 },
      );
    },
  };
}
