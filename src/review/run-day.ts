import type { BusinessDay } from '../booking/business-day.js';
import { FencedError, type Ledger, type Right, type StepCursor } from '../ledger/ledger.js';
import type { StepQueue } from '../queue/queue.js';
import { CollectError, type CollectParts, collectDay } from './collect.js';
import type { Delivery } from './delivery.js';
import { type DayRequest, decideOpening } from './opening.js';
import { toQueuedStep } from './queueing.js';
import type { RetryPolicy } from './retry.js';
import { type DeliveryKind, hasWork, isActive, type Run, type Trigger } from './run.js';
import { type SettleLimits, settleWhenDue } from './settle.js';
import { createStepRunner } from './step-runner.js';

/** Open steps that are read from the ledger at a time. */
const pageOfSteps = 500;

export interface RunDayParts extends Omit<CollectParts, 'ledger' | 'delivery' | 'limits'> {
  readonly ledger: Ledger;
  readonly deliveryFor: (kind: DeliveryKind) => Delivery;
  readonly createQueue: () => StepQueue;
  readonly retry: RetryPolicy;
  readonly limits: CollectParts['limits'] & SettleLimits;
  /** How long a step in hand may go on after a stop was asked for. */
  readonly graceMs: number;
  readonly createRunId: (day: BusinessDay) => string;
  readonly random: () => number;
}

export interface RunRequest extends DayRequest {
  readonly day: BusinessDay;
  readonly trigger: Trigger;
  readonly configuredDelivery: DeliveryKind;
}

/** Somebody alive works on that day. */
export class DayBusyError extends Error {
  override readonly name = 'DayBusyError';
}

/** What was asked for does not fit the state of the day. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export interface DayResult {
  readonly run: Run;
  /** The day was done before: nothing was sent now. */
  readonly wasDone: boolean;
}

/**
 * Reviews one business day: opens or resumes its run, collects, delivers, settles. The run that comes back is active
 * still when the signal stopped the work; the next call goes on with it.
 *
 * @throws DayBusyError, UsageError
 */
export async function runDay(
  request: RunRequest,
  parts: RunDayParts,
  signal: AbortSignal,
): Promise<DayResult> {
  const { ledger } = parts;
  const { day } = request;
  const hold = await ledger.holdDay(day.iso);
  if (!hold) throw new DayBusyError(`${day.iso} is being run by another process`);
  try {
    const stop = AbortSignal.any([signal, hold.lost]);
    const opened = await openRun(request, parts);
    if (opened.wasDone) return opened;
    const run =
      opened.run.collectedAt === undefined ? await collect(day, opened.run, parts, stop) : opened.run;
    if (!isActive(run) || stop.aborted) return { run, wasDone: false };
    return { run: await deliver(run, parts, stop), wasDone: false };
  } finally {
    await hold.release();
  }
}

async function openRun(
  request: RunRequest,
  { ledger, clock, notify, createRunId }: RunDayParts,
): Promise<DayResult> {
  const { day, trigger, reason, delivery, configuredDelivery } = request;
  const opening = decideOpening(await ledger.latestRun(day.iso), request);
  switch (opening.kind) {
    case 'usage-error':
      throw new UsageError(opening.message);
    case 'already-done':
      return { run: opening.run, wasDone: true };
    case 'resume': {
      const run = await ledger.takeOver(opening.run.id);
      notify({ type: 'run-opened', run, isResumed: true });
      return { run, wasDone: false };
    }
    case 'new': {
      const run = await ledger.createRun({
        id: createRunId(day),
        day: day.iso,
        delivery: delivery ?? configuredDelivery,
        trigger,
        startedAt: clock(),
        ...(reason !== undefined && { reason }),
        ...(opening.replaces !== undefined && { replaces: opening.replaces }),
      });
      notify({ type: 'run-opened', run, isResumed: false });
      return { run, wasDone: false };
    }
  }
}

async function collect(day: BusinessDay, run: Run, parts: RunDayParts, signal: AbortSignal): Promise<Run> {
  const { ledger, deliveryFor, clock, notify } = parts;
  const right: Right = { runId: run.id, token: run.token };
  try {
    const collected = await collectDay(day, right, { ...parts, delivery: deliveryFor(run.delivery) }, signal);
    notify({ type: 'collected', run: collected });
    return collected;
  } catch (error) {
    if (signal.aborted) return ledger.getRun(run.id);
    if (!(error instanceof CollectError)) throw error;
    const failure = { class: 'data' as const, code: error.code, message: error.message };
    await ledger.settle(right, { state: 'failed', failure, at: clock() });
    const failed = await ledger.getRun(run.id);
    notify({ type: 'settled', run: failed });
    return failed;
  }
}

/** Hands the run's open steps to workers and waits for its end. */
async function deliver(run: Run, parts: RunDayParts, signal: AbortSignal): Promise<Run> {
  const { ledger, deliveryFor, createQueue, graceMs, notify } = parts;
  const queue = createQueue();
  const performStep = createStepRunner({
    ...parts,
    queue,
    deliveryOf: ({ delivery }) => deliveryFor(delivery),
  });
  const over = new AbortController();
  let fault: { error: unknown } | undefined;
  queue.work(
    async (reference, abandon) => {
      const current = (await performStep(reference, run.token, abandon)) ?? (await readOwnRun(ledger, run));
      if (!hasWork(current)) over.abort();
    },
    {
      onError(error) {
        fault ??= { error };
        over.abort();
      },
    },
  );
  const end = AbortSignal.any([signal, over.signal]);
  try {
    // A day with no step, or one whose last step was recorded just before a crash, is settled here.
    const current = await settleWhenDue(run, parts);
    if (hasWork(current)) {
      const ended = untilAborted(end);
      await feed(current, ledger, queue, ended);
      await ended;
    }
    if (signal.aborted) notify({ type: 'stopping', runId: run.id, graceMs });
  } finally {
    await queue.close({ graceMs });
  }
  if (fault) throw fault.error;
  return ledger.getRun(run.id);
}

/** A step that cannot be claimed may mean that the run was taken over, or is over. @throws FencedError */
async function readOwnRun(ledger: Ledger, { id, token }: Run): Promise<Run> {
  const run = await ledger.getRun(id);
  if (run.token !== token) throw new FencedError(id);
  return run;
}

/** The reconciler: whatever the ledger holds open is queued, a page at a time, however much of it was queued before. */
async function feed(run: Run, ledger: Ledger, queue: StepQueue, ended: Promise<'ended'>): Promise<void> {
  let after: StepCursor | undefined;
  do {
    const page = await ledger.listOpenSteps(run.id, { limit: pageOfSteps, ...(after && { after }) });
    await queue.add(page.map((step) => toQueuedStep(run.id, step)));
    after = page.at(-1);
  } while (after && (await Promise.race([queue.room(), ended])) !== 'ended');
}

function untilAborted(signal: AbortSignal): Promise<'ended'> {
  if (signal.aborted) return Promise.resolve('ended');
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve('ended'), { once: true }));
}
