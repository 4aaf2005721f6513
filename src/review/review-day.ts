import type { Hold } from '../base/abort.js';
import { formatLocalInstant } from '../base/format.js';
import type { BusinessDay } from '../booking/business-day.js';
import type { ReadOnlyLedger } from '../ledger/ledger.js';
import { CollectError } from '../rules/gates.js';
import { makesDayGood } from '../rules/good-day.js';
import {
  acceptanceOf,
  type DeliveryKind,
  hasUnexpectedCount,
  isActive,
  mayCompleteDay,
  type Run,
  type Trigger,
} from '../rules/run.js';
import { addTriedUntil, classOfCollect } from '../rules/try-again.js';
import type { PeerClocks } from '../transports/http/peer-clocks.js';
import { type CollectParts, collectDay } from './collect/collect.js';
import { acquireDay, DayBusyError } from './day/join-run.js';
import { acceptIn, type DayRequest, type OpenedRun, openRun } from './day/open-run.js';
import type { Delivery } from './delivery.js';
import { listRunsOfDay } from './every-run.js';
import { storeDayOutcome } from './outcome/read-outcome.js';
import type { Workforce } from './perform/workforce.js';

export interface ReviewParts extends Omit<CollectParts, 'delivery' | 'past'> {
  readonly deliveryFor: (kind: DeliveryKind) => Delivery;
  readonly workforce: Workforce;
  /** Until when this process retries a run whose source is not there yet; absent if it doesn't. */
  readonly findSourceDeadline?: (run: Run) => number | undefined;
  readonly createRunId: (day: BusinessDay) => string;
  /** Absent where no clocks are compared. */
  readonly peerClocks?: PeerClocks | undefined;
  /**
   * Asked before each run.
   *
   * @throws LedgerUnusableError if the ledger is not the one of the archive, or its file is not the one that was opened
   */
  readonly mayReview: (delivery: DeliveryKind) => Promise<void>;
  /** Notes outside of the ledger that a run sends something: an older copy of the ledger would send it again. */
  readonly beforeSending: () => Promise<void>;
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

/** What a caller hears while a day is reviewed. */
export interface ReviewCallbacks {
  /** The ledger has the run that this call works on. */
  readonly onOpened?: (run: Run, isNew: boolean) => void;
  /** The day was done, and is accepted now. */
  readonly onAccepted?: ((run: Run) => void) | undefined;
  /** The last stage: what a run led to, such as cases, messages and a report. */
  readonly followUp?: (result: DayResult) => Promise<void>;
}

/**
 * Reviews one business day. If the signal aborted the work, the returned run is still active and the next call resumes it.
 *
 *     run(day) ─> collect ─> plan ─> perform ─> settle ─> follow up
 *
 * @throws DayBusyError, UsageError, and what `mayReview` throws
 */
export async function reviewDay(
  request: RunRequest,
  parts: ReviewParts,
  signal: AbortSignal,
  callbacks: ReviewCallbacks = {},
): Promise<DayResult> {
  await parts.mayReview(request.delivery ?? request.configuredDelivery);
  const result = await review({ ...callbacks, request, parts, signal });
  await callbacks.followUp?.(result);
  return result;
}

/** One call of `reviewDay`. */
interface Call extends ReviewCallbacks {
  readonly request: RunRequest;
  readonly parts: ReviewParts;
  readonly signal: AbortSignal;
}

/** From the right to work on the day to the end of its run. */
async function review(call: Call): Promise<DayResult> {
  const { request, parts, signal } = call;
  const { day, trigger, configuredDelivery } = request;
  const found = await acquireDay(request, parts, signal, () =>
    parts.notify({ type: 'waiting-for-day', day: day.iso }),
  );
  if (found.kind === 'to-join') {
    reportOpened(call, found.run, false);
    const run = await acceptIn(request.accepts, found.run, parts);
    return { run: await parts.workforce.deliver(run, signal), wasDone: false };
  }

  const { hold, runBefore } = found;
  let result: DayResult | 'lost';
  try {
    result = await reviewHeld({ ...call, request: { ...request, runBefore } }, hold);
  } finally {
    await hold.release();
  }
  if (result === 'lost') {
    // Another process has the day now. If nobody has it, because only the ledger was unreachable, we acquire it again.
    if (request.mode === 'run') return review(call);
    throw new DayBusyError(`${day.iso} was taken over by another process`);
  }
  // Only whoever held the day tops it up, not those who joined: reads the source again, sends what is missing, and fails unless it
  // holds the expected number of records.
  return isToTopUp(result, signal)
    ? review({ request: { mode: 'run', day, trigger, configuredDelivery }, parts, signal })
    : result;
}

/** The hook was called with another number of records while the run was delivered. */
function isToTopUp({ run, wasDone }: DayResult, { aborted }: AbortSignal): boolean {
  return run.state === 'succeeded' && mayCompleteDay(run) && !wasDone && hasUnexpectedCount(run) && !aborted;
}

/** Opens or resumes the run of a day that this process holds, and works on it. */
async function reviewHeld(call: Call, hold: Hold): Promise<DayResult | 'lost'> {
  const { request, parts, signal } = call;
  const opened = await openRun(request, parts, hold);
  if (opened === 'lost') return opened;
  if (opened.kind === 'accepted') {
    const { run } = opened;
    for (const kind of request.accepts?.kinds ?? [])
      if (acceptanceOf(run, kind)) parts.notify({ type: 'accepted', kind, run });
    call.onAccepted?.(opened.run);
  }
  if (opened.kind === 'done' || opened.kind === 'accepted') {
    // Whoever ended the run may have died right after that.
    await storeDayOutcome(parts.ledger, opened.run.day);
    return { run: opened.run, wasDone: true };
  }
  reportOpened(call, opened.run, opened.kind === 'new');

  const stop = AbortSignal.any([signal, hold.lost]);
  // The producer: reads the source into the ledger, and stores the plan with the last booking.
  const isCollected = opened.run.collectedAt !== undefined;
  const run = isCollected ? opened.run : await collect(request.day, opened, parts, stop);
  // The workers perform the steps of the plan. Whoever ends the last one settles the run.
  const isOurs = isActive(run) && !stop.aborted;
  if (isOurs) await parts.beforeSending();
  const delivered = isOurs ? await parts.workforce.deliver(run, signal, hold) : run;
  if (hold.lost.aborted && !signal.aborted) return 'lost';
  return { run: await noteClock(delivered, parts), wasDone: false };
}

/**
 * Another process may have settled the run that this one has collected. A run that found nothing new has asked nobody: its clock is the
 * one of the run before.
 */
async function noteClock(run: Run, { ledger, peerClocks }: ReviewParts): Promise<Run> {
  if (run.state !== 'succeeded' || run.clockLead !== undefined) return run;
  let lead = peerClocks?.findLead(run.id);
  if (lead === undefined && run.topsUp && run.counts.accepted === 0)
    lead = (await ledger.runs.list({ day: run.day, limit: 2 }))[1]?.clockLead;
  return lead ? ledger.runs.noteClockLead(run.id, lead) : run;
}

function reportOpened({ parts, onOpened }: Call, run: Run, isNew: boolean): void {
  parts.notify({ type: 'run-opened', run, isResumed: !isNew });
  onOpened?.(run, isNew);
}

/** Collects the run of a day; it fails if the source can't be trusted. */
async function collect(
  day: BusinessDay,
  { run, failedBefore }: OpenedRun,
  parts: ReviewParts,
  signal: AbortSignal,
): Promise<Run> {
  const { ledger, deliveryFor, findSourceDeadline, clock, notify, peerClocks } = parts;
  try {
    const canary = (await needsCanary(run, day, ledger)) ? parts.canary : undefined;
    const delivery = deliveryFor(run.delivery);
    const collected = await collectDay(day, run, { ...parts, canary, delivery, past: ledger }, signal);
    await storeDayOutcome(ledger, run.day);
    peerClocks?.noteCollected(run.id);
    notify({ type: 'collected', run: collected });
    return collected;
  } catch (error) {
    if (signal.aborted) return ledger.runs.get(run.id);
    if (!(error instanceof CollectError)) throw error;
    const found = { class: classOfCollect(error), code: error.code, message: error.message };
    const until = findSourceDeadline?.({ ...run, state: 'failed', failure: found });
    const isTriedAgain = until !== undefined && until > clock();
    const failure = isTriedAgain
      ? { ...found, message: addTriedUntil(error.message, formatLocalInstant(until, day.zone)) }
      : found;
    const right = { runId: run.id, token: run.token };
    const isSettledHere = await ledger.runs.settle(right, { state: 'failed', failure, at: clock() });
    const failed = await ledger.runs.get(run.id);
    if (!isSettledHere) return failed;
    // A day whose source is not there yet is tried again and again: it is reported once.
    const isKnown = until !== undefined && failedBefore?.code === failed.failure?.code;
    notify({ type: isKnown ? 'source-still-missing' : 'settled', run: failed });
    if (isTriedAgain && !isKnown) notify({ type: 'source-late', run: failed, until });
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
  const { day } = run;
  const runs = await listRunsOfDay(ledger, day);
  if (runs.some((earlier) => makesDayGood(earlier, zone))) return false;
  const canaries = await ledger.canaries.list({ day, limit: runs.length });
  return !canaries.some(({ sentAt }) => sentAt !== undefined);
}
