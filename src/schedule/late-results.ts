import { createBusinessDay } from '../booking/business-day.js';
import type { Ledger } from '../ledger/ledger.js';
import { isLateLookDue, isResultLookedFor } from '../review/file/late-result.js';
import { hasWork, type Run } from '../rules/run.js';
import type { DueDay } from './due-days.js';
import { createScheduler, reviewDueDay, type Scheduler, type SchedulerParts } from './scheduler.js';

export interface LateResultParts extends Omit<SchedulerParts, 'checkMs'> {
  readonly ledger: Ledger;
  /** For how many days after the by-file call a result is looked for. */
  readonly guestNameDays: number;
  /** Looks for a result that was not judged yet, without changing anything. */
  readonly hasNewResult: (run: Run, signal: AbortSignal) => Promise<boolean>;
  /** Tries the run again because there is one. It must end soon after the signal aborts. */
  readonly review: (run: Run, signal: AbortSignal) => Promise<unknown>;
}

/** How often the ledger is asked which looks are due. */
const checkMs = 60_000;

/**
 * Looks for results that came after their time, or after one that did not suffice, whatever their day. A look changes nothing and holds
 * nothing; only where there is something new, the run is tried again. When each run was looked at is known to this process alone: one that
 * starts looks at once.
 */
export function createLateResultScheduler(parts: LateResultParts): Scheduler {
  const { ledger, cronTimes, guestNameDays, hasNewResult, review, clock, notify } = parts;
  const lookedAt = new Map<string, number>();
  const reviewing = new Map<string, Promise<void>>();

  async function check(stop: AbortSignal): Promise<void> {
    const runs = await listLookedFor();
    const ids = new Set(runs.map(({ id }) => id));
    for (const id of lookedAt.keys()) if (!ids.has(id)) lookedAt.delete(id);
    for (const run of runs) {
      if (stop.aborted) return;
      const isDue = isLateLookDue(run, lookedAt.get(run.id), clock());
      if (isDue && !reviewing.has(run.id) && (await look(run, stop))) begin(run, stop);
    }
  }

  /** Whoever performs its steps looks for the result of a run that still has time. */
  async function listLookedFor(): Promise<readonly Run[]> {
    try {
      const now = clock();
      const runs = await ledger.runs.listWithoutResult();
      return runs.filter((run) => !hasWork(run) && isResultLookedFor(run, { now, guestNameDays }));
    } catch (error) {
      notify({ type: 'check-failed', error });
      return [];
    }
  }

  async function look(run: Run, stop: AbortSignal): Promise<boolean> {
    lookedAt.set(run.id, clock());
    try {
      return (await hasNewResult(run, stop)) && !stop.aborted;
    } catch (error) {
      if (!stop.aborted) notify({ type: 'look-failed', run, error });
      return false;
    }
  }

  /** Another result may have to become whole first: that delays no other look. */
  function begin(run: Run, stop: AbortSignal): void {
    const day = createBusinessDay(run.day, cronTimes.zone);
    const dueDay: DueDay = { day, kind: 'result', isNightly: false };
    const reviewed = reviewDueDay(dueDay, () => review(run, stop), notify);
    reviewing.set(
      run.id,
      reviewed.finally(() => reviewing.delete(run.id)),
    );
  }

  const checks = createScheduler({ ...parts, checkMs }, check);
  return {
    start: checks.start,
    async close() {
      await checks.close();
      await Promise.all(reviewing.values());
    },
  };
}
