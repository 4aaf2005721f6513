import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createWatchdog } from '../../src/transports/sftp/session.js';

describe('the deadline without progress', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('fires when nothing happens', async () => {
    const onStalled = vi.fn();
    createWatchdog(1_000, onStalled);
    await vi.advanceTimersByTimeAsync(999);
    expect(onStalled).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(2);
    expect(onStalled).toHaveBeenCalledOnce();
  });

  it('restarts with each progress', async () => {
    const onStalled = vi.fn();
    const watchdog = createWatchdog(1_000, onStalled);
    for (let answer = 0; answer < 5; answer += 1) {
      await vi.advanceTimersByTimeAsync(900);
      watchdog.progressed();
    }
    expect(onStalled).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1_001);
    expect(onStalled).toHaveBeenCalledOnce();
  });

  it('accepts answers that arrived while the process was frozen', async () => {
    const onStalled = vi.fn();
    const watchdog = createWatchdog(1_000, onStalled);
    // The timer is due, but the answers are read first.
    vi.advanceTimersToNextTimer();
    watchdog.progressed();
    await vi.advanceTimersByTimeAsync(900);
    expect(onStalled).not.toHaveBeenCalled();
  });

  it('does not fire once stopped', async () => {
    const onStalled = vi.fn();
    const watchdog = createWatchdog(1_000, onStalled);
    watchdog.stop();
    watchdog.progressed();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(onStalled).not.toHaveBeenCalled();
  });
});
