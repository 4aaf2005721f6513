import { pause } from '../../async/abort.js';
import { FencedError } from '../../ledger/errors.js';
import type { Ledger } from '../../ledger/ledger.js';
import { hasWork, isActive, type Run } from '../../ledger/run.js';
import type { PerformStep, StepQueue, StepReference } from '../queue.js';
import { createHeldClaims } from './held-claims.js';
import { reconcile, reconcileRun, settleIfLeftOver } from './reconcile.js';
import { createStepRunner, type StepRunnerParts } from './step-runner.js';
import type { Workforce } from './workforce.js';

/** Interval at which a run that others work on is polled. */
const lookEveryMs = 250;

export interface SharedWorkforceParts extends Omit<StepRunnerParts, 'ledger' | 'queue' | 'claims'> {
  readonly ledger: Ledger;
  readonly queue: StepQueue;
  /** How long a claim lasts unless renewed. */
  readonly leaseMs: number;
  readonly reconcileMs: number;
  /** The longest wait that the settings allow. */
  readonly longestWaitMs: number;
  /** How long a running step may continue after a stop was requested. */
  readonly graceMs: number;
  /** False in a process that leaves the steps to other processes. */
  readonly performs: boolean;
}

/**
 * Several processes that share a ledger and a queue. Each performs the steps it is handed, under the run's current token,
 * and renews its claims. Each reconciles periodically, so that a queue that lost everything, or a process that died,
 * delays nothing for long.
 */
export function createSharedWorkforce(parts: SharedWorkforceParts): Workforce {
  const { ledger, queue, leaseMs, reconcileMs, graceMs, performs, random, notify } = parts;
  const claims = createHeldClaims({ ledger, leaseMs });
  const performStep = createStepRunner({ ...parts, claims, onFault: reportFault });
  const stopping = new AbortController();
  let reconciling: Promise<void> | undefined;
  let closing: Promise<void> | undefined;

  const perform: PerformStep = async (reference, abandon, releaseSlot) => {
    const { runId, step } = reference;
    try {
      await performStep(reference, undefined, abandon, releaseSlot);
    } catch (error) {
      if (!(error instanceof FencedError)) throw error;
      notify({ type: 'superseded', runId, step });
    }
  };

  /** Runs until the stop; what fails is retried the next time. */
  async function keepReconciling(): Promise<void> {
    const { signal } = stopping;
    while (!signal.aborted) {
      await reconcile({ ...parts, onFault: reportFaultOfRun }, signal).catch((error: unknown) =>
        reportFault(error),
      );
      // Jitter, so that processes don't all reconcile at once.
      await pause(reconcileMs * (0.75 + random() / 2), signal);
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

  async function watch(first: Run, signal: AbortSignal): Promise<Run> {
    let run = first;
    while (hasWork(run) && !signal.aborted) {
      await pause(lookEveryMs, signal);
      const found = await ledger.runs.get(run.id);
      // A run whose last step has ended may not be settled yet: the process that performed the step may be gone.
      run = await settleIfLeftOver(found, parts).catch((error: unknown) => {
        if (error instanceof FencedError) return ledger.runs.get(found.id);
        throw error;
      });
      notify({ type: 'watched', run });
    }
    if (!signal.aborted) return run;
    if (isActive(run)) notify({ type: 'stopping', run, graceMs });
    // Running steps end first, and no other is taken: the caller gets the run as this process leaves it.
    await closeOnce();
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
