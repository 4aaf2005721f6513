import { createBusinessDay } from '../../../src/booking/business-day.js';
import type { ShownDay } from '../../../src/desk/calendar.js';
import type { Run } from '../../../src/rules/run.js';
import { someRun } from '../../review/some-run.js';
import { timezone } from '../some-desk.js';

/** A run by file of that day, which began at half past two in the next night; its result names no incorrect mapping. */
export function nightlyRun(day: string, changes: Parameters<typeof someRun>[0] = {}): Run {
  const startedAt = createBusinessDay(day, timezone).lastInstant.getTime() + 1 + 2.5 * 3_600_000;
  const { counts, ...run } = changes;
  const hasResult = (run.state ?? 'succeeded') === 'succeeded' && run.delivery !== 'body';
  return someRun({
    id: `run-of-${day}`,
    day,
    delivery: 'file',
    trigger: 'schedule',
    startedAt,
    collectStartedAt: startedAt,
    collectedAt: startedAt + 1_000,
    finishedAt: startedAt + 600_000,
    ...(hasResult && {
      file: { rows: 990, verdicts: { affected: 0, unanswered: 0, unclear: 0, malformed: 0 } },
    }),
    ...run,
    counts: { rejected: 0, ...counts },
  });
}

/** A good day of the calendar, apart from the changes. */
export function someDay(day: string, changes: Partial<ShownDay> = {}): ShownDay {
  return {
    day,
    judgement: 'good',
    ran: 'good',
    openBookings: 0,
    headline: 'All 990 bookings have the verdict correct.',
    isDue: true,
    isGood: true,
    isLate: false,
    runId: `run-of-${day}`,
    state: 'succeeded',
    accepted: 990,
    firstAction: null,
    ...changes,
  };
}

/** Days in a row, oldest first. */
export function listDays(from: string, count: number): string[] {
  const start = Date.parse(`${from}T00:00:00Z`);
  return Array.from({ length: count }, (_, index) =>
    new Date(start + index * 86_400_000).toISOString().slice(0, 10),
  );
}
