import { onTestFinished, vi } from 'vitest';
import type { ReviewEvent } from '../../src/review/events.js';
import type { ReviewParts } from '../../src/review/review-day.js';
import { createCronTimes } from '../../src/schedule/cron-times.js';
import type { SchedulerEvent } from '../../src/schedule/events.js';
import { createWantedDays } from '../../src/schedule/wanted-days.js';
import { reviewedDay } from '../review/working-day.js';
import { patienceMs } from '../support/patience.js';

/** What a process does with wanted days. It ends with the test, or when it is stopped. */
export function openWantedDays(parts: ReviewParts, permits = 3) {
  const stop = new AbortController();
  const faults: { readonly error: unknown; readonly day: string }[] = [];
  const notify = (event: ReviewEvent | SchedulerEvent) => {
    if (event.type === 'review-broke-off') faults.push({ error: event.error, day: event.day });
    if ('run' in event || event.type === 'waiting-for-day') parts.notify(event as ReviewEvent);
  };
  const after: string[] = [];
  const days = createWantedDays({
    parts: { ...parts, notify },
    configuredDelivery: 'body',
    permits,
    cronTimes: createCronTimes('30 2 * * *', reviewedDay.zone),
    notify,
    async afterReview(run) {
      after.push(run.id);
    },
    signal: stop.signal,
  });
  async function stopped(): Promise<void> {
    stop.abort();
    await days.close();
  }
  onTestFinished(stopped);
  return {
    days,
    faults,
    after,
    stopped,
    /** Nothing is wanted any more. */
    done: () =>
      vi.waitUntil(async () => (await parts.ledger.wanted.list()).length === 0, { timeout: patienceMs }),
  };
}
