import { pause } from '../../async/abort.js';
import type { Hold } from '../../async/hold.js';
import type { BusinessDay } from '../../booking/business-day.js';
import type { DayHolds, RunReader, StepReader } from '../ledger.js';
import type { Workforce } from '../perform/workforce.js';
import { DayBusyError } from '../refusals.js';
import { hasWork, isActive, type Run } from '../run.js';
import { type DayRequest, decideOpening } from './open-run.js';

/** Between two tries to have a day that somebody else holds. */
const tryEveryMs = 500;

export interface JoinParts {
  readonly ledger: DayHolds & RunReader & StepReader;
  readonly workforce: Pick<Workforce, 'isShared'>;
  readonly clock: () => number;
}

type RequestForDay = DayRequest & { readonly day: BusinessDay };

export type FoundDay =
  /** The right to open its run is ours. */
  | { readonly kind: 'held'; readonly hold: Hold }
  /** Its run is collected, and everybody's. */
  | { readonly kind: 'to-join'; readonly run: Run };

/**
 * Takes the right to work on a day. Where somebody else has it: a process that works alone waits for one lease, in case
 * the owner is dead; one that shares the work joins the run as soon as it is collected.
 *
 * @param onWaiting called once, when somebody else has the day and this call begins to wait
 * @throws DayBusyError when the day stays somebody else's, or a stop was asked for
 */
export async function acquireDay(
  request: RequestForDay,
  parts: JoinParts,
  signal: AbortSignal,
  onWaiting: () => void,
): Promise<FoundDay> {
  const { ledger, workforce, clock } = parts;
  const { day, mode } = request;
  const joins = workforce.isShared && mode === 'run';
  const giveUpAt = clock() + ledger.staleHoldMs;
  let isWaiting = false;
  const findOthers = async (): Promise<FoundDay | undefined> => {
    const run = workforce.isShared ? await findSharedRun(request, ledger) : undefined;
    if (run && !joins) throw busy(day.iso);
    return run && { kind: 'to-join', run };
  };
  for (;;) {
    const others = await findOthers();
    if (others) return others;
    const hold = await ledger.holdDay(day.iso);
    if (hold) return heldUnless(findOthers, hold);
    if (signal.aborted || (!joins && clock() >= giveUpAt)) throw busy(day.iso);
    if (!isWaiting) onWaiting();
    isWaiting = true;
    await pause(tryEveryMs, signal);
  }
}

/**
 * Who had the day before may have ended its collect between the look and the asking: to take its run over would give
 * others' steps in hand up, and send them twice.
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

/** The run that others work on. For a replay, one that nobody performs a step of is free to be given up. */
export async function findSharedRun(
  request: RequestForDay,
  ledger: RunReader & StepReader,
): Promise<Run | undefined> {
  const latest = await ledger.latestRun(request.day.iso);
  if (!latest || latest.collectedAt === undefined || !isActive(latest)) return undefined;
  if (request.mode !== 'run') return (await ledger.isBeingPerformed(latest.id)) ? latest : undefined;
  return decideOpening(latest, request).kind === 'resume' && hasWork(latest) ? latest : undefined;
}

function busy(day: string): DayBusyError {
  return new DayBusyError(`${day} is being run by another process`);
}
