import { type BusinessDay, createBusinessDay } from '../../booking/business-day.js';
import { createNormaliser } from '../../booking/normalise.js';
import { createDayReader } from '../../review/collect/day-reader.js';
import { type RunDayParts, runDay } from '../../review/day/run-day.js';
import { isActive, type Run } from '../../review/run.js';
import type { CaseLedger } from '../case-store.js';
import { createEndangeredSource } from './endangered-source.js';

export interface ReviewEndangeredParts {
  readonly review: RunDayParts & { readonly ledger: CaseLedger };
  /** In the account's zone. */
  readonly today: BusinessDay;
  /** The first day whose unfinished runs are resumed, YYYY-MM-DD. */
  readonly resumesSince: string;
  /** Whether a failed run is resumed. */
  readonly mayPass: (failed: Run) => boolean;
}

/**
 * Sends the stays that the watch found in danger for review again, by body: first what earlier runs left, then what no
 * run has taken. Returns the runs; if the signal aborted the work, the last run is still active, and the next call resumes it.
 *
 * @throws DayBusyError while another process sends them
 */
export async function reviewEndangered(
  { review, today, resumesSince, mayPass }: ReviewEndangeredParts,
  signal: AbortSignal,
): Promise<readonly Run[]> {
  const { watch } = review.ledger;
  const send = (day: BusinessDay, runId: string) => sendBookings(day, runId, { review, today }, signal);
  const runs: Run[] = [];
  for (const run of await watch.listUnfinishedReviews(resumesSince)) {
    if (signal.aborted) return runs;
    if (isActive(run) || mayPass(run)) runs.push(await send(createBusinessDay(run.day, today.zone), run.id));
  }
  if (!signal.aborted && (await watch.hasEndangered()))
    runs.push(await send(today, review.createRunId(today)));
  return runs;
}

async function sendBookings(
  day: BusinessDay,
  runId: string,
  { review, today }: Pick<ReviewEndangeredParts, 'review' | 'today'>,
  signal: AbortSignal,
): Promise<Run> {
  // Comparing them with the copy would only repeat what the watch found.
  const { comparison: _, ...parts } = review;
  const source = createEndangeredSource({ ledger: review.ledger, runId, today: today.iso });
  const reader = createDayReader({ source, normalise: createNormaliser() });
  const { run } = await runDay(
    { mode: 'watch', trigger: 'watch', runId, day, configuredDelivery: 'body' },
    { ...parts, reader },
    signal,
  );
  return run;
}
