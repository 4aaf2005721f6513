import type { Hold } from '../../async/hold.js';
import type { BusinessDay } from '../../booking/business-day.js';
import type { Ledger, ReadOnlyLedger } from '../../ledger/ledger.js';
import {
  type DeliveryKind,
  hasUnexpectedCount,
  isActive,
  mayCompleteDay,
  type Run,
  type RunFailure,
  type Trigger,
} from '../../ledger/run.js';
import type { Right } from '../../ledger/step.js';
import { type CollectParts, collectDay } from '../collect/collect.js';
import { runsCompared } from '../collect/delivered-lines.js';
import { CollectError, limitsOfUnfinishedDay } from '../collect/gates.js';
import type { Delivery } from '../delivery.js';
import type { Workforce } from '../perform/workforce.js';
import { DayBusyError } from '../refusals.js';
import { makesDayGood } from './good-day.js';
import { acquireDay } from './join-run.js';
import { acceptIn, type DayRequest, type OpenedRun, openRun } from './open-run.js';

export interface RunDayParts extends Omit<CollectParts, 'ledger' | 'delivery' | 'limits'> {
  readonly ledger: Ledger;
  readonly deliveryFor: (kind: DeliveryKind) => Delivery;
  readonly workforce: Workforce;
  readonly limits: CollectParts['limits'];
  /** Until when this process retries a run whose source is not there yet; absent if it doesn't. */
  readonly findSourceDeadline?: (run: Run) => number | undefined;
  readonly createRunId: (day: BusinessDay) => string;
}

export interface RunRequest extends DayRequest {
  readonly day: BusinessDay;
  readonly trigger: Trigger;
  readonly configuredDelivery: DeliveryKind;
}

export interface DayResult {
  readonly run: Run;
  /** The day was already done; nothing was sent now. */
  readonly wasDone: boolean;
}

/** For callers that don't wait for the end of a review. */
export interface OpeningCallbacks {
  /** The ledger has the run that this call works on. */
  readonly onOpened?: (run: Run, isNew: boolean) => void;
  /** The day was done, and its number of bookings is accepted now. */
  readonly onAccepted?: ((run: Run) => void) | undefined;
  /** Another process holds the day; this call waits for it. Called with the day's latest run, now and then. */
  readonly onWaiting?: (latest: Run | undefined) => void;
}

/**
 * Reviews one business day: opens or resumes its run, collects, delivers, settles. If the signal aborted the work,
 * the returned run is still active and the next call resumes it.
 *
 * @throws DayBusyError, UsageError
 */
export async function runDay(
  request: RunRequest,
  parts: RunDayParts,
  signal: AbortSignal,
  callbacks: OpeningCallbacks = {},
): Promise<DayResult> {
  const { workforce, notify } = parts;
  const { day } = request;
  const found = await acquireDay(request, parts, signal, (latest, isFirst) => {
    if (isFirst) notify({ type: 'waiting-for-day', day: day.iso });
    callbacks.onWaiting?.(latest);
  });
  const onOpened = (run: Run, isNew: boolean) => {
    notify({ type: 'run-opened', run, isResumed: !isNew });
    callbacks.onOpened?.(run, isNew);
  };
  if (found.kind === 'to-join') {
    onOpened(found.run, false);
    const run = await acceptIn(request, found.run, parts);
    return { run: await workforce.deliver(run, signal), wasDone: false };
  }
  const { hold, runBefore } = found;
  let result: DayResult | 'lost';
  try {
    result = await reviewHeld(
      { ...request, runBefore },
      parts,
      { hold, onOpened, onAccepted: callbacks.onAccepted },
      signal,
    );
  } finally {
    await hold.release();
  }
  if (result !== 'lost') return isToTopUp(result, signal) ? topUp(request, parts, signal) : result;
  // Another process has the day now. If nobody has it, because only the ledger was unreachable, we acquire it again.
  if (request.mode === 'run') return runDay(request, parts, signal, callbacks);
  throw new DayBusyError(`${day.iso} was taken over by another process`);
}

/** The hook was called with another number of records while the run was delivered. */
function isToTopUp({ run, wasDone }: DayResult, signal: AbortSignal): boolean {
  return (
    run.state === 'succeeded' && mayCompleteDay(run) && !wasDone && hasUnexpectedCount(run) && !signal.aborted
  );
}

/** Reads the source again, sends what is missing, and fails unless it holds the expected number of records. */
function topUp(
  { day, trigger, configuredDelivery }: RunRequest,
  parts: RunDayParts,
  signal: AbortSignal,
): Promise<DayResult> {
  return runDay({ mode: 'run', day, trigger, configuredDelivery }, parts, signal);
}

async function reviewHeld(
  request: RunRequest,
  parts: RunDayParts,
  {
    hold,
    onOpened,
    onAccepted,
  }: {
    readonly hold: Hold;
    readonly onOpened: (run: Run, isNew: boolean) => void;
    readonly onAccepted: OpeningCallbacks['onAccepted'];
  },
  signal: AbortSignal,
): Promise<DayResult | 'lost'> {
  const { workforce } = parts;
  const stop = AbortSignal.any([signal, hold.lost]);
  const opened = await openRun(request, parts, hold);
  if (opened === 'lost') return opened;
  if (opened.kind === 'accepted') {
    parts.notify({ type: 'volume-accepted', run: opened.run });
    onAccepted?.(opened.run);
  }
  if (opened.kind === 'done' || opened.kind === 'accepted') return { run: opened.run, wasDone: true };
  onOpened(opened.run, opened.kind === 'new');
  const run =
    opened.run.collectedAt === undefined ? await collect(request.day, opened, parts, stop) : opened.run;
  const isOurs = isActive(run) && !stop.aborted;
  const delivered = isOurs ? await workforce.deliver(run, signal, hold) : run;
  return hold.lost.aborted && !signal.aborted ? 'lost' : { run: delivered, wasDone: false };
}

async function collect(
  day: BusinessDay,
  { run, failedBefore }: Pick<OpenedRun, 'run' | 'failedBefore'>,
  parts: RunDayParts,
  signal: AbortSignal,
): Promise<Run> {
  const { ledger, deliveryFor, clock, notify } = parts;
  const right: Right = { runId: run.id, token: run.token };
  try {
    const delivery = deliveryFor(run.delivery);
    const delivered = run.topsUp ? { delivered: ledger } : {};
    const readExpected = async () => (await ledger.runs.get(run.id)).expected;
    const asked = mayCompleteDay(run)
      ? {
          ...{ volumes: ledger, acceptsVolume: run.acceptance !== undefined, readExpected },
          ...{ earlierDays: ledger, acceptsRepeated: run.acceptsRepeated },
        }
      : { limits: limitsOfUnfinishedDay(parts.limits) };
    const canary = (await needsCanary(run, day, ledger)) ? parts.canary : undefined;
    const collecting = { ...parts, ...asked, ...delivered, canary, delivery };
    const collected = await collectDay(day, right, collecting, signal);
    notify({ type: 'collected', run: collected });
    return collected;
  } catch (error) {
    if (signal.aborted) return ledger.runs.get(run.id);
    if (!(error instanceof CollectError)) throw error;
    const failure = { class: 'data' as const, code: error.code, message: error.message };
    const isSettledHere = await ledger.runs.settle(right, { state: 'failed', failure, at: clock() });
    const failed = await ledger.runs.get(run.id);
    if (isSettledHere) reportFailure(failed, failedBefore, parts);
    return failed;
  }
}

/**
 * Whether a run sends a canary. Every run that may complete its day does, unless it only tops up a day that was good
 * before, or whose canary was sent.
 */
async function needsCanary(run: Run, { zone }: BusinessDay, ledger: ReadOnlyLedger): Promise<boolean> {
  if (!mayCompleteDay(run)) return false;
  if (!run.topsUp) return true;
  const ofDay = { day: run.day, limit: runsCompared };
  if ((await ledger.runs.list(ofDay)).some((earlier) => makesDayGood(earlier, zone))) return false;
  return !(await ledger.canaries.list(ofDay)).some(({ sentAt }) => sentAt !== undefined);
}

/** A day whose source is not there yet is tried again and again: it is reported once. */
function reportFailure(
  run: Run,
  failedBefore: RunFailure | undefined,
  { findSourceDeadline, clock, notify }: RunDayParts,
): void {
  const until = findSourceDeadline?.(run);
  const isTriedAgain = until !== undefined && until > clock();
  if (isTriedAgain && failedBefore?.code === run.failure?.code)
    return notify({ type: 'source-still-missing', run });
  notify({ type: 'settled', run });
  if (isTriedAgain) notify({ type: 'source-late', run, until });
}
