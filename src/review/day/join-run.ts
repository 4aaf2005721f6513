import { pause } from '../../async/abort.js';
import type { Hold } from '../../async/hold.js';
import type { BusinessDay } from '../../booking/business-day.js';
import type { Ledger, ReadOnlyLedger } from '../../ledger/ledger.js';
import { hasWork, isActive, mayCompleteDay, type Run } from '../../ledger/run.js';
import { SafeError } from '../../text/safe-error.js';
import type { Workforce } from '../perform/workforce.js';
import { type DayRequest, decideOpening } from './open-run.js';

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
 * @param onWaiting called with the day's latest run, each time that this call has to wait
 * @throws DayBusyError if the day stays with another process, or the signal is aborted
 */
export async function acquireDay(
  request: RequestForDay,
  parts: JoinParts,
  signal: AbortSignal,
  onWaiting: (latest: Run | undefined, isFirst: boolean) => void,
): Promise<FoundDay> {
  const { ledger, workforce, clock } = parts;
  const joins = workforce.letsOthersJoin && joinsRuns(request.mode);
  const giveUpAt = clock() + ledger.holds.staleMs;
  let runBefore: Run | null | undefined;
  for (;;) {
    const found = await tryToAcquireDay(request, parts);
    if (found) return found.kind === 'held' && runBefore !== undefined ? { ...found, runBefore } : found;
    if (signal.aborted || (!joins && clock() >= giveUpAt)) throw busy(request);
    const latest = await ledger.runs.latest(request.day.iso);
    const isFirst = runBefore === undefined;
    if (isFirst) runBefore = latest ?? null;
    onWaiting(latest, isFirst);
    await pause(tryEveryMs, signal);
  }
}

/** The same without waiting; undefined if another process holds the day. @throws DayBusyError */
export async function tryToAcquireDay(
  request: RequestForDay,
  { ledger, workforce }: JoinParts,
): Promise<FoundDay | undefined> {
  const { day, mode } = request;
  const findOthers = async (): Promise<FoundDay | undefined> => {
    const run = workforce.letsOthersJoin ? await findSharedRun(request, ledger) : undefined;
    if (run && !joinsRuns(mode)) throw busy(request);
    return run && { kind: 'to-join', run };
  };
  const isRunOfTodayInWork = async () =>
    workforce.letsOthersJoin &&
    mode !== 'today' &&
    (await findRunOfTodayInWork(day.iso, ledger)) !== undefined;
  const others = await findOthers();
  if (others) return others;
  // What workers are sending would be sent twice if their run was taken over now.
  if (await isRunOfTodayInWork()) return undefined;
  const hold = await ledger.holds.day(day.iso);
  return hold && heldUnless(findOthers, hold);
}

/**
 * The previous owner may have finished collecting between our check and our acquisition. Taking its run over would
 * abandon steps in progress and send them twice.
 */
async function heldUnless(findOthers: () => Promise<FoundDay | undefined>, hold: Hold): Promise<FoundDay> {
  const others = await findOthers().catch(async (error: unknown) => {
    await hold.release();
    throw error;
  });
  if (!others) return { kind: 'held', hold };
  await hold.release();
  return others;
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

async function findRunOfTodayInWork(day: string, ledger: ReadOnlyLedger): Promise<Run | undefined> {
  const latest = await ledger.runs.latest(day);
  const mayBe = latest && isActive(latest) && !mayCompleteDay(latest);
  return mayBe && (await ledger.steps.isBeingPerformed(latest.id)) ? latest : undefined;
}

export function busy({ day }: RequestForDay): DayBusyError {
  return new DayBusyError(`${day.iso} is being run by another process`);
}

interface AbandonParts {
  readonly ledger: Ledger;
  readonly clock: () => number;
}

export type Abandoned =
  | {
      readonly kind: 'abandoned';
      readonly run: Run;
      /** A live process was working on it; the ledger refuses what it writes from now on. */
      readonly wasBeingWorkedOn: boolean;
    }
  /** The day has no run, or its latest one has ended. */
  | { readonly kind: 'nothing'; readonly run?: Run };

/** Cancels the latest run of a day if it is unfinished, even while others work on it. */
export async function abandon(
  day: string,
  reason: string,
  { ledger, clock }: AbandonParts,
): Promise<Abandoned> {
  // Held so that nobody opens a run of the day in the meantime; failing to get it shows that somebody works on the day.
  const hold = await ledger.holds.day(day);
  try {
    const found = await ledger.runs.latest(day);
    if (!found) return { kind: 'nothing' };
    const wasBeingWorkedOn = !hold || (await ledger.steps.isBeingPerformed(found.id));
    const isAbandoned = await ledger.runs.abandon(found.id, { reason, at: clock() });
    const run = await ledger.runs.get(found.id);
    return isAbandoned ? { kind: 'abandoned', run, wasBeingWorkedOn } : { kind: 'nothing', run };
  } finally {
    await hold?.release();
  }
}

/** Another live process is working on that day. */
export class DayBusyError extends SafeError {
  override readonly name = 'DayBusyError';
}
