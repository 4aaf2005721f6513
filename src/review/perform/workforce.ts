import { answerWithin, type Hold, orAborted, pause, untilAborted } from '../../base/abort.js';
import { createPatience } from '../../base/peer-patience.js';
import {
  type PerformStep,
  QueueAwayError,
  type StepQueue,
  type StepReference,
} from '../../booking/step-queue.js';
import { FencedError } from '../../ledger/errors.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { Worker } from '../../ledger/workers.js';
import { hasWork, isActive, type Run } from '../../rules/run.js';
import { type SettleParts, settleIfDue } from './settle.js';
import {
  createStepRunner,
  type EnqueueParts,
  enqueueOpenSteps,
  holdClaims,
  type PerformParts,
  renewalsPerLease,
} from './step-runner.js';

/** Interval at which the runs that others work on are looked at. */
const lookEveryMs = 250;

/** What performs the steps of a collected run: this process alone, or all processes that share a queue. */
export interface Workforce {
  /** Whether a second `run` of a day joins the run in progress instead of waiting for the day. */
  readonly letsOthersJoin: boolean;
  /**
   * Resolves once the run has nothing left to do, or the signal stopped the work here.
   *
   * @param hold of the run's day, if this process has it. A process that works alone stops when it is lost. A shared
   * workforce releases it: every process may take the steps of a collected run.
   * @throws FencedError; QueueAwayError if a shared queue could be used before, and refuses everything for too long
   */
  deliver(run: Run, signal: AbortSignal, hold?: Hold): Promise<Run>;
  /** The number of steps of all runs that wait in a shared queue, if there is one. Rejects when it can't be reached. */
  countWaiting?(): Promise<number>;
  /** Whether a shared queue takes steps, if there is one. @throws QueueAwayError */
  checkQueue?(): Promise<void>;
  /** Finishes or interrupts the running steps. Idempotent. */
  close(): Promise<void>;
}

export interface WorkforceParts extends PerformParts {
  /** How long a claim lasts unless renewed. */
  readonly leaseMs: number;
  /** The longest wait that the settings allow. */
  readonly longestWaitMs: number;
  /** How long a running step may continue after a stop was requested. */
  readonly graceMs: number;
}

/** This process alone: it holds the day and performs its steps, under the token that the run had at the start. */
export function createOwnWorkforce(parts: WorkforceParts, createQueue: () => StepQueue): Workforce {
  return {
    letsOthersJoin: false,
    deliver: (run, signal, hold) =>
      deliver(run, parts, createQueue(), hold ? AbortSignal.any([signal, hold.lost]) : signal),
    close: async () => {},
  };
}

async function deliver(run: Run, parts: WorkforceParts, queue: StepQueue, signal: AbortSignal): Promise<Run> {
  const { ledger, leaseMs, graceMs, notify } = parts;
  const claims = holdClaims(ledger, leaseMs);
  const performStep = createStepRunner(parts, queue, claims);
  const over = new AbortController();
  let fault: { error: unknown } | undefined;
  queue.work(
    async (reference, abandon, releasePermit) => {
      const current =
        (await performStep(reference, run.token, abandon, releasePermit)) ?? (await readOwnRun(ledger, run));
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
    // Settles a day without steps, and one whose last step was recorded just before a crash.
    const current = await settleIfDue(run, parts);
    if (hasWork(current)) {
      const ended = untilAborted(end);
      await enqueueOpenSteps(current, { ...parts, queue }, end);
      await ended;
    }
    if (signal.aborted) notify({ type: 'stopping', run, graceMs });
  } finally {
    await queue.close({ graceMs });
    claims.close();
  }
  if (fault) throw fault.error;
  return ledger.runs.get(run.id);
}

/** A step can't be claimed when the run has ended or was taken over. @throws FencedError */
async function readOwnRun(ledger: Ledger, { id, token }: Run): Promise<Run> {
  const run = await ledger.runs.get(id);
  if (run.token !== token) throw new FencedError(id);
  return run;
}

/**
 * Several processes that share a ledger and a queue. Each performs the steps it is handed, under the run's current token,
 * and renews its claims. Each reconciles periodically, so that a queue that lost everything, or a process that died,
 * delays nothing for long.
 */
export function createSharedWorkforce(
  parts: WorkforceParts & {
    readonly queue: StepQueue;
    readonly reconcileMs: number;
    /** False in a process that leaves the steps to other processes. */
    readonly performs: boolean;
    /** Of the process. A review that is stopped by itself, such as one of today by the night, leaves the queue to the others. */
    readonly stop: AbortSignal;
  },
): Workforce {
  const { ledger, queue, leaseMs, reconcileMs, graceMs, performs, clock, random, notify } = parts;
  const claims = holdClaims(ledger, leaseMs);
  const performStep = createStepRunner(parts, queue, claims, reportFault);
  const stopping = new AbortController();
  let reconciling: Promise<void> | undefined;
  let looking: Promise<readonly Run[]> | undefined;
  let closing: Promise<void> | undefined;
  // Otherwise the process would not have started.
  const patience = createPatience(clock, true);
  let givenUp: QueueAwayError | undefined;

  const perform: PerformStep = async (reference, abandon, releasePermit) => {
    const { runId, step } = reference;
    try {
      await performStep(reference, undefined, abandon, releasePermit);
    } catch (error) {
      if (!(error instanceof FencedError)) throw error;
      notify({ type: 'superseded', runId, step });
    }
  };

  /** Runs until the stop; what fails is retried the next time. */
  async function keepReconciling(): Promise<void> {
    const { signal } = stopping;
    while (!signal.aborted) {
      await watchQueue();
      await reconcile(parts, reportFaultOfRun, signal).catch((error: unknown) => reportFault(error));
      // Jitter, so that processes don't all reconcile at once.
      await pause(reconcileMs * (0.75 + random() / 2), signal);
    }
  }

  /** Whoever waits for a run gives it up; a process that stays up goes on trying. */
  async function watchQueue(): Promise<void> {
    try {
      await queue.check();
      patience.noteSuccess();
      givenUp = undefined;
    } catch (error) {
      if (!(error instanceof QueueAwayError) || patience.judge(error.fault) !== 'give-up') return;
      if (!givenUp && !stopping.signal.aborted) notify({ type: 'queue-given-up', error });
      givenUp = error;
    }
  }

  function reportFault(error: unknown, reference?: StepReference): void {
    if (!stopping.signal.aborted) notify({ type: 'faulted', ...reference, error });
  }

  function reportFaultOfRun(error: unknown, { id }: Run): void {
    // The process that took the run over reconciles it.
    if (error instanceof FencedError || stopping.signal.aborted) return;
    notify({ type: 'faulted', runId: id, error });
  }

  if (performs) {
    queue.work(perform, { onError: reportFault });
    reconciling = keepReconciling();
  }
  return {
    letsOthersJoin: true,
    countWaiting: () => queue.countWaiting(),
    checkQueue: () => queue.check(),
    async deliver(run, signal, hold) {
      await hold?.release();
      const stop = AbortSignal.any([signal, stopping.signal]);
      const queued = await reconcileRun(run, parts, stop).catch((error: unknown) => {
        // Every worker reconciles, so a queue that is unavailable now only delays the run.
        reportFaultOfRun(error, run);
        return run;
      });
      return performs ? watch(queued, stop) : ledger.runs.get(run.id);
    },
    close: closeOnce,
  };

  /** One look at the ledger serves all the runs that this process waits for. */
  function lookAtRuns(): Promise<readonly Run[]> {
    looking ??= pause(lookEveryMs, stopping.signal)
      .then(() => ledger.runs.listActive())
      .finally(() => {
        looking = undefined;
      });
    return looking;
  }

  async function watch(first: Run, signal: AbortSignal): Promise<Run> {
    let run = first;
    while (hasWork(run)) {
      const active = await orAborted(lookAtRuns(), signal);
      if (active === 'aborted') break;
      if (givenUp) throw givenUp;
      const found = active.find(({ id }) => id === first.id) ?? (await ledger.runs.get(first.id));
      // A run whose last step has ended may not be settled yet: the process that performed the step may be gone.
      run = await settleIfDue(found, parts).catch((error: unknown) => {
        if (error instanceof FencedError) return ledger.runs.get(found.id);
        throw error;
      });
      notify({ type: 'watched', run });
    }
    if (!signal.aborted) return run;
    if (isActive(run)) notify({ type: 'stopping', run, graceMs });
    // Running steps end first, and no other is taken: the caller gets the run as this process leaves it.
    if (parts.stop.aborted) await closeOnce();
    return ledger.runs.get(run.id);
  }

  function closeOnce(): Promise<void> {
    closing ??= close();
    return closing;
  }

  async function close(): Promise<void> {
    stopping.abort();
    await queue.close({ graceMs });
    claims.close();
    await reconciling;
  }
}

/**
 * Brings the queue in line with the ledger for every collected run: reopens steps that a dead process left behind,
 * settles a run whose last step was recorded just before a crash, and queues all open steps. References that are already
 * queued stay there, and the ledger refuses those of steps that are done.
 *
 * @param onFault called with a run that failed to reconcile; the other runs are not affected
 */
export async function reconcile(
  parts: EnqueueParts & SettleParts,
  onFault: (error: unknown, run: Run) => void,
  signal: AbortSignal,
): Promise<void> {
  for (const run of await parts.ledger.runs.listActive()) {
    if (signal.aborted) return;
    if (run.collectedAt === undefined) continue;
    await reconcileRun(run, parts, signal).catch((error: unknown) => onFault(error, run));
  }
}

async function reconcileRun(
  { id }: Run,
  parts: EnqueueParts & SettleParts,
  signal: AbortSignal,
): Promise<Run> {
  const { ledger, notify } = parts;
  const steps = await ledger.steps.reopenAbandoned(id);
  const run = await ledger.runs.get(id);
  if (steps > 0) notify({ type: 'taken-over', run, steps });
  const current = await settleIfDue(run, parts);
  if (hasWork(current)) await enqueueOpenSteps(current, parts, signal);
  return current;
}

/** How long the end may take. */
const lastMs = 1_000;

/**
 * Says in the ledger that this process works, until it is closed. A ledger that can't be asked is told of by those who need it: here
 * the next renewal tries again.
 */
export function startHeartbeat(ledger: Ledger, leaseMs: number, worker: Worker) {
  const ending = new AbortController();
  const renewing = keepRenewing();

  async function keepRenewing(): Promise<void> {
    // Once, and not awaited: nobody sees the rows of those that are gone, and few die.
    void ledger.workers.removeGone().catch(() => {});
    while (!ending.signal.aborted) {
      await ledger.workers.heartbeat(worker).catch(() => {});
      await pause(leaseMs / renewalsPerLease, ending.signal, { holdsProcess: false });
    }
  }

  return {
    async close(): Promise<void> {
      ending.abort();
      // A ledger that is away must not hold up the end of the process: the row lapses by itself.
      await answerWithin(
        lastMs,
        renewing.then(() => ledger.workers.remove(worker.id)),
      ).catch(() => {});
    },
  };
}
