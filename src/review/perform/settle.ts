import type { RetryPolicy } from '../../base/retry.js';
import type { Ledger, ReadOnlyLedger } from '../../ledger/ledger.js';
import type { Tally } from '../../ledger/run-changes.js';
import type { FailedStep } from '../../ledger/steps.js';
import type { DayCounts } from '../../rules/day-outcome.js';
import { describeCode, type Endpoints } from '../../rules/peers.js';
import {
  type ImplausibleAffected,
  isActive,
  isOverdue,
  mayCompleteDay,
  type Run,
  type RunFailure,
} from '../../rules/run.js';
import { formatShare, isMoreThanShare } from '../../rules/share.js';
import { classOfRun, tooManyRefused } from '../../rules/try-again.js';
import type { PeerClocks } from '../../transports/http/peer-clocks.js';
import type { Notify } from '../events.js';
import { listRunsOfDay } from '../every-run.js';
import { judgeRuns, storeDayOutcome } from '../outcome/read-outcome.js';

/** After this many failed tries in a row the service counts as down, rather than a batch as bad; and so for failed steps. */
export const maxFailuresInRow = 5;
/** Fewer refused bookings than this never stop a run, regardless of their share. */
const minRefusedToStop = 20;

/** Why a run fails; its class follows from its failed steps. */
export type Explanation = Omit<RunFailure, 'class'>;

export interface SettleParts {
  readonly ledger: Ledger;
  readonly retry: RetryPolicy;
  readonly limits: { readonly maxRefusedShare: number; readonly maxAffectedShare: number };
  readonly endpoints?: Endpoints | undefined;
  /** What a delivery knows of its failed step: why the run fails, or what to do about it. */
  readonly explainFailure?: (run: Run, failed: FailedStep) => Explanation | string | undefined;
  readonly clock: () => number;
  /** Absent where no clocks are compared. */
  readonly peerClocks?: PeerClocks | undefined;
  readonly notify: Notify;
}

/** Settles the run when its last step has ended or when it must stop; by compare-and-set, so that it happens once. */
export async function settleIfDue(run: Run, parts: SettleParts): Promise<Run> {
  const { ledger, limits, clock, notify } = parts;
  if (!isActive(run)) return run;
  const failure = findReasonToStop(run, parts);
  // An overdue result is looked for again by the next `run`, which a failed step needs anyway.
  const isOver = run.openSteps === 0 || (isOverdue(run) && run.failedSteps > 0);
  if (!failure && !isOver) return run;
  const end = failure ? fail(failure) : judgeEnd(run, await ledger.runs.tally(run.id), parts);
  const implausible =
    end.state === 'succeeded' ? await findImplausible(ledger, run, limits.maxAffectedShare) : undefined;
  const clockLead = parts.peerClocks?.findLead(run.id) || undefined;
  const right = { runId: run.id, token: run.token };
  const settled = await ledger.runs.settle(right, { ...end, implausible, clockLead, at: clock() });
  const ended = await ledger.runs.get(run.id);
  if (settled) notify({ type: 'settled', run: ended, outcome: await storeDayOutcome(ledger, run.day) });
  return ended;
}

function findReasonToStop(
  { day, failuresInRow, failedSteps, counts }: Run,
  { retry, limits: { maxRefusedShare }, endpoints }: SettleParts,
): RunFailure | undefined {
  // As many tries as those steps had, and nothing got an answer in between.
  if (failedSteps >= maxFailuresInRow && failuresInRow >= maxFailuresInRow * retry.tries) {
    return {
      class: 'retryable',
      code: 'failures-in-row',
      message: `${failedSteps} steps in a row ran out of tries: the service${endpoints ? ` (${endpoints.service})` : ''} seems to be down; run ${day} again when it is back`,
    };
  }
  if (
    counts.refused >= minRefusedToStop &&
    isMoreThanShare(counts.refused, counts.accepted, maxRefusedShare)
  ) {
    return {
      class: 'refused',
      code: tooManyRefused,
      message: `the service refused ${counts.refused} of ${counts.accepted} bookings, more than maxRefusedShare allows (${formatShare(maxRefusedShare)})`,
    };
  }
  return undefined;
}

/** Counted from the steps themselves: a run whose sums don't add up fails. */
function judgeEnd(run: Run, tally: Tally, { endpoints, explainFailure }: SettleParts) {
  const { day, counts } = run;
  const addsUp =
    counts.read === counts.accepted + counts.duplicates + counts.rejected + counts.filtered &&
    counts.accepted + counts.carried === tally.stored &&
    counts.accepted === tally.delivered + tally.refused + tally.pending &&
    counts.delivered === tally.delivered &&
    counts.refused === tally.refused &&
    run.openSteps === tally.openSteps;
  if (!addsUp) {
    return fail({
      class: 'internal',
      code: 'sums-differ',
      message: `the sums do not add up: ${JSON.stringify({ ...counts, ...tally })}; please report this and keep the ledger`,
    });
  }
  if (tally.firstFailed) {
    const { pending, failedSteps, firstFailed } = tally;
    const failureClass = classOfRun(tally);
    // What needs a person is named first, whatever failed before it.
    const isInOrder = firstFailed.failureClass === failureClass;
    const explained = explainFailure?.(run, firstFailed);
    if (typeof explained === 'object') return fail({ class: failureClass, ...explained });
    const others = failedSteps === 1 ? '' : `, and ${failedSteps - 1} more${isInOrder ? ' after it' : ''}`;
    const undelivered =
      pending === 0
        ? 'every booking is delivered'
        : `${pending} of ${counts.accepted} bookings ${pending === 1 ? 'is' : 'are'} not delivered`;
    return fail({
      class: failureClass,
      code: 'steps-failed',
      message: `${firstFailed.name} failed with ${describeCode(firstFailed.code, endpoints)}${others}: ${undelivered}; ${explained === undefined ? '' : `${explained}, then `}run ${day} again`,
    });
  }
  return { state: 'succeeded' as const };
}

function fail(failure: RunFailure) {
  return { state: 'failed' as const, failure };
}

/** Fewer affected bookings than this are plausible, whatever their share. */
const leastAffected = 20;

/**
 * The affected bookings of a day, if they are implausibly many: then it is rather the source, the result or the account that is wrong
 * than so many mappings.
 */
export function judgeAffected(
  { affected, accepted, posted, unanswered }: DayCounts,
  maxAffectedShare: number,
): ImplausibleAffected | undefined {
  const judged = accepted - posted - (unanswered ?? 0);
  return affected !== null && affected >= leastAffected && isMoreThanShare(affected, judged, maxAffectedShare)
    ? { affected, judged }
    : undefined;
}

/**
 * What `judgeAffected` says of a day whose run is about to succeed, over all its runs: one that sends nothing new, or another way, makes
 * no earlier result plausible.
 */
export async function findImplausible(
  ledger: ReadOnlyLedger,
  run: Run,
  maxAffectedShare: number,
): Promise<ImplausibleAffected | undefined> {
  if (!mayCompleteDay(run)) return undefined;
  const runs = await listRunsOfDay(ledger, run.day);
  // No day has more than its runs together, and few need to be counted booking by booking.
  const most = runs.reduce((sum, { counts }) => sum + (counts.affected ?? 0), 0);
  return most < leastAffected
    ? undefined
    : judgeAffected(await judgeRuns(ledger, run.day, runs), maxAffectedShare);
}
