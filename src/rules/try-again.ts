import { needsPerson } from '../base/peer-patience.js';
import { SourceError } from '../booking/source.js';
import type { StepSelection } from './changes.js';
import type { Asker, FailureClass, Run } from './run.js';
import type { Outcome } from './step.js';

/** May this be tried again? Whoever asks that about an attempt, a step or a run asks here. */

/** The error class that a step keeps whose last attempt ended so. */
export function classOfFailure(outcome: Extract<Outcome, { kind: 'retryable' | 'refused' }>): FailureClass {
  if (outcome.kind === 'retryable' && outcome.refusedWhenSpent) return 'refused';
  return outcome.class ?? outcome.kind;
}

/** The class of a run follows from those of its failed steps: as long as one of them may pass, the run is tried again. */
export function classOfRun({
  retryableSteps,
  firstFailed,
}: {
  readonly retryableSteps: number;
  /** In the order of the plan; of those that need a person, if there are any. */
  readonly firstFailed?: { readonly failureClass: FailureClass };
}): FailureClass {
  return retryableSteps > 0 ? 'retryable' : (firstFailed?.failureClass ?? 'internal');
}

/** The class of a run that could not be collected: its source's server may be back soon, refuse us, or have nothing to do with it. */
export function classOfCollect({ cause }: { readonly cause?: unknown }): FailureClass {
  const peer = cause instanceof SourceError ? cause.peer : undefined;
  if (peer === undefined) return 'data';
  return needsPerson(peer) ? 'fatal' : 'retryable';
}

/**
 * Whether a run that failed may be tried again on this word. A person may always. By itself only what may pass without anybody is: not
 * what was stopped as fatal or because of too many refusals. A result that was not judged yet is a reason of its own.
 */
export function mayTryAgain(run: Run, by: Asker): boolean {
  if (run.state !== 'failed') return false;
  switch (by) {
    case 'person':
      return true;
    case 'schedule':
      return run.failure?.class === 'retryable' || awaitsSource(run) || isReadAgainToday(run);
    case 'result':
      return lacksResult(run);
  }
}

/**
 * Whether bookings would be sent if somebody resumed the run. One that only lacks its result, or has only to archive it, sends nothing any
 * more.
 */
export function mayStillSend({ state, failure, counts, file }: Run): boolean {
  if (state === 'succeeded' || state === 'cancelled') return false;
  const carries = counts.carried > 0 && file?.triggeredAt === undefined;
  return counts.pending > 0 || carries || failure?.code === tooManyRefused;
}

/** The failed steps of a failed run that are then tried again. */
export function stepsTriedAgain({ failure }: Run, by: Asker): readonly StepSelection[] {
  switch (by) {
    case 'person':
      return [{ states: ['failed', ...(failure?.code === tooManyRefused ? (['refused'] as const) : [])] }];
    case 'schedule':
      return [retryable];
    case 'result':
      return [
        retryable,
        ...(['await-result', 'archive'] as const).map((kind) => ({ kind, states: ['failed'] as const })),
      ];
  }
}

/** The code of a run that too many refused bookings have stopped. */
export const tooManyRefused = 'too-many-refused';

const retryable: StepSelection = { states: ['failed'], failureClass: 'retryable' };

/** Whether its source was not there, and is waited for until it is given up; one that a person started is that person's. */
export function awaitsSource({ state, failure, trigger }: Run): boolean {
  return state === 'failed' && failure?.code === 'missing' && (trigger === 'schedule' || trigger === 'hook');
}

const triedUntil = '; it is tried again until ';

/** Until when a source that is not there is waited for, in the message of its run. */
export function addTriedUntil(message: string, until: string): string {
  return `${message}${triedUntil}${until}`;
}

/** The same message once that is over. */
export function dropTriedUntil(message: string): string {
  return message.split(triedUntil)[0] ?? message;
}

/** While the day is not over, each cron time reads the source anew, whatever kept it from being read: nothing was sent. */
function isReadAgainToday({ failure, trigger, collectedAt }: Run): boolean {
  return trigger === 'today' && (failure?.class === 'data' || collectedAt === undefined);
}

/** Whether all that it lacks is a result that suffices. */
export function lacksResult({ state, failure }: Run): boolean {
  if (state === 'awaiting-result') return true;
  return (
    state === 'failed' && (failure?.code === 'result-incomplete' || failure?.code === 'result-unreadable')
  );
}
