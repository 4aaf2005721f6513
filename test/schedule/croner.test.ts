import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createCronTimes, watchCronTimes } from '../../src/schedule/cron-times.js';

let closing: AbortController;

/** Watches the cron times, and returns when they were reported. */
function start(pattern: string, zone: string): string[] {
  const reported: string[] = [];
  const report = () => void reported.push(new Date().toISOString().slice(0, 19));
  void watchCronTimes(createCronTimes(pattern, zone), report, closing.signal);
  return reported;
}

describe('the schedule of a process', () => {
  beforeEach(() => {
    vi.useFakeTimers();
    closing = new AbortController();
  });
  afterEach(() => {
    closing.abort();
    vi.useRealTimers();
  });

  it.each([
    ['leave 02:30 out', '2026-03-28T00:00:00Z', ['2026-03-28T01:30', '2026-03-29T01:00', '2026-03-30T00:30']],
    [
      'show 02:30 twice',
      '2026-10-24T00:00:00Z',
      ['2026-10-24T00:30', '2026-10-25T00:30', '2026-10-26T01:30'],
    ],
  ])(
    'reports one cron time per night across the night in which the clocks %s',
    async (_name, from, expected) => {
      vi.setSystemTime(new Date(from));
      const reported = start('30 2 * * *', 'Europe/Madrid');
      await vi.advanceTimersByTimeAsync(3 * 24 * 3_600_000);
      expect(reported).toEqual(expected.map((cronTime) => `${cronTime}:00`));
    },
  );

  it('reports a cron time that the clocks skip by jumping to the next day, at that moment', async () => {
    vi.setSystemTime(new Date('2026-03-28T12:00:00Z'));
    const reported = start('30 23 * * *', 'America/Nuuk');
    await vi.advanceTimersByTimeAsync(2 * 24 * 3_600_000);
    expect(reported).toEqual(['2026-03-29T01:00:00', '2026-03-30T00:30:00']);
  });

  it('reports each cron time once, and not before its time', async () => {
    vi.setSystemTime(new Date('2026-11-20T12:00:00.400Z'));
    const reported = start('* * * * * *', 'UTC');
    await vi.advanceTimersByTimeAsync(3_000);
    expect(reported).toEqual(['2026-11-20T12:00:01', '2026-11-20T12:00:02', '2026-11-20T12:00:03']);
  });

  it('reports once after the process slept through cron times', async () => {
    vi.setSystemTime(new Date('2026-11-20T12:00:00Z'));
    const reported = start('30 2 * * *', 'UTC');
    vi.setSystemTime(new Date('2026-11-23T09:00:00Z'));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(reported).toHaveLength(1);
  });

  it('reports nothing more once it is stopped', async () => {
    const reported = start('* * * * * *', 'UTC');
    await vi.advanceTimersByTimeAsync(1_000);
    closing.abort();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(reported).toHaveLength(1);
  });
});
