import { afterEach, beforeEach, vi } from 'vitest';

/** Each test starts at 02:30 UTC, and its time advances by hand. */
export function useNightTime(): void {
  beforeEach(() => {
    // setImmediate stays real: the ledger uses it to group writes.
    vi.useFakeTimers({
      now: Date.parse('2026-11-21T02:30:00Z'),
      toFake: ['Date', 'performance', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'],
    });
  });
  afterEach(() => {
    vi.useRealTimers();
  });
}
