import { type Hold, pause } from '../../base/abort.js';
import { SafeError } from '../../base/safe-error.js';
import type { BusinessDay } from '../../booking/business-day.js';
import type { Ledger, ReadOnlyLedger } from '../../ledger/ledger.js';
import { hasWork, isActive, mayCompleteDay, type Run } from '../../rules/run.js';
import { storeDayOutcome } from '../outcome/read-outcome.js';
import type { Workforce } from '../perform/workforce.js';
import { type DayRequest, decideOpening, isUnfinished } from './open-run.js';

/** Delay between attempts to acquire a day that another process holds. */
const tryEveryMs = 500;

interface JoinParts {
  readonly ledger: Ledger;
  readonly workforce: Workforce;
  readonly clock: () => number;
}

type RequestForDay = DayRequest & { readonly day: BusinessDay };

export type FoundDay =
  /** We hold the day and may open its run. */
  | {
      readonly kind: 'held';
      readonly hold: Hold;
      /** The day's latest run when this call began to wait for the day, null for none; absent if it did not wait. */
      readonly runBefore?: Run | null;
    }
  /** The run is collected; everyone may work on it. */
  | { readonly kind: 'to-join'; readonly run: Run };

/**
 * Acquires the right to work on a day. If another process holds it, a process that works alone waits for one lease in
 * case the owner is dead; one that shares the work joins the run as soon as it is collected.
 *
 * @param onWaiting called once if this call has to wait
 * @throws DayBusyError if the day stays with another process, or the signal is aborted
 */
export async function acquireDay(
  request: RequestForDay,
  parts: JoinParts,
  signal: AbortSignal,
  onWaiting: () => void,
): Promise<FoundDay> {
  const { ledger, workforce, clock } = parts;
  const joins = workforce.letsOthersJoin && joinsRuns(request.mode);
  const giveUpAt = clock() + ledger.holds.staleMs;
  let runBefore: Run | null | undefined;
  for (;;) {
    const found = await tryToAcquireDay(request, parts);
    if (found) return found.kind === 'held' && runBefore !== undefined ? { ...found, runBefore } : found;
    if (signal.aborted || (!joins && clock() >= giveUpAt)) throw busy(request);
    if (runBefore === undefined) {
      runBefore = (await ledger.runs.latest(request.day.iso)) ?? null;
      onWaiting();
    }
    await pause(tryEveryMs, signal);
  }
}

/** The same without waiting; undefined if another process holds the day. @throws DayBusyError */
export async function tryToAcquireDay(
  request: RequestForDay,
  { ledger, workforce }: JoinParts,
): Promise<FoundDay | undefined> {
  const findOthers = async () => {
    const run = workforce.letsOthersJoin ? await findSharedRun(request, ledger) : undefined;
    if (run && !joinsRuns(request.mode)) throw busy(request);
    return run && { kind: 'to-join' as const, run };
  };
  const others = await findOthers();
  if (others) return others;
  // What workers are sending would be sent twice if their run was taken over now.
  if (workforce.letsOthersJoin && (await isRunOfTodayInWork(request, ledger))) return undefined;
  const hold = await ledger.holds.day(request.day.iso);
  if (!hold) return undefined;
  let isKept = false;
  try {
    // The previous owner may have finished collecting between our check and our acquisition. Taking its run over would abandon
    // steps in progress and send them twice.
    const meanwhile = await findOthers();
    isKept = !meanwhile;
    return meanwhile ?? { kind: 'held', hold };
  } finally {
    if (!isKept) await hold.release();
  }
}

/** The run that others are working on. A replay may give up a run that has no step in progress. */
export async function findSharedRun(
  request: RequestForDay,
  ledger: ReadOnlyLedger,
): Promise<Run | undefined> {
  const latest = await ledger.runs.latest(request.day.iso);
  if (!latest || latest.collectedAt === undefined || !isActive(latest)) return undefined;
  if (!joinsRuns(request.mode)) return (await ledger.steps.isBeingPerformed(latest.id)) ? latest : undefined;
  return decideOpening(latest, request).kind === 'resume' && hasWork(latest) ? latest : undefined;
}

/** Such a request works on the run that others have begun. */
function joinsRuns(mode: DayRequest['mode']): boolean {
  return mode !== 'replay' && mode !== 'late';
}

async function isRunOfTodayInWork({ day, mode }: RequestForDay, ledger: ReadOnlyLedger): Promise<boolean> {
  const latest = mode === 'today' ? undefined : await ledger.runs.latest(day.iso);
  if (!latest || !isActive(latest) || mayCompleteDay(latest)) return false;
  return ledger.steps.isBeingPerformed(latest.id);
}

export function busy({ day }: RequestForDay): DayBusyError {
  return new DayBusyError(`${day.iso} is being run by another process`);
}

export type Abandoned = Awaited<ReturnType<typeof abandon>>;

/**
 * Cancels the latest run of a day if it is unfinished, even while others work on it: the ledger refuses what they write from now
 * on. A day that is only wanted is so no more. There is nothing to cancel if the day has no run, or its latest one has ended.
 */
export async function abandon(day: string, reason: string, { ledger, clock }: Omit<JoinParts, 'workforce'>) {
  // Held so that nobody opens a run of the day in the meantime; failing to get it shows that somebody works on the day.
  const hold = await ledger.holds.day(day);
  try {
    const found = await ledger.runs.latest(day);
    // Somebody who holds a day without an active run may be opening it.
    const wanted = hold || (found && isActive(found)) ? await ledger.wanted.withdraw(day) : undefined;
    if (wanted && !(found && isUnfinished(found))) return { kind: 'withdrawn', wanted } as const;
    if (!found) return { kind: 'nothing' } as const;
    const wasBeingWorkedOn = !hold || (await ledger.steps.isBeingPerformed(found.id));
    const isAbandoned = await ledger.runs.abandon(found.id, { reason, at: clock() });
    if (isAbandoned) await storeDayOutcome(ledger, day);
    const run = await ledger.runs.get(found.id);
    return isAbandoned
      ? ({ kind: 'abandoned', run, wasBeingWorkedOn } as const)
      : ({ kind: 'nothing', run } as const);
  } finally {
    await hold?.release();
  }
}

/** Another live process is working on that day. */
export class DayBusyError extends SafeError {
  override readonly name = 'DayBusyError';
}
