import type { Hold } from '../../base/abort.js';
import { UsageError } from '../../base/safe-error.js';
import type { BusinessDay } from '../../booking/business-day.js';
import type { GuestNames } from '../../booking/sending.js';
import type { Ledger, ReadOnlyLedger } from '../../ledger/ledger.js';
import { wasCollectedEarly } from '../../rules/good-day.js';
import {
  type AcceptanceKind,
  type Acceptances,
  type Asker,
  type DeliveryKind,
  hasUnexpectedCount,
  isActive,
  isToBeAccepted,
  mayCompleteDay,
  type Run,
  type RunFailure,
} from '../../rules/run.js';
import { mayTryAgain } from '../../rules/try-again.js';
import { describeIncomparable } from '../collect/delivered-lines.js';
import { listRunsOfDay } from '../every-run.js';
import type { ReviewParts, RunRequest } from '../review-day.js';

export interface DayRequest {
  /**
   * `run` starts a day, resumes it, or leaves it alone if it is done. `replay` reviews it again. `late` tops it up:
   * it sends only what the day's other runs have not delivered. `resume` continues the active run that it names, or tries it again because
   * a result has come, and leaves the day alone if that has ended. `today` tops the day up by body while it is not over.
   */
  readonly mode: 'run' | 'replay' | 'late' | 'resume' | 'today';
  /** For `resume`: the run. */
  readonly runId?: string | undefined;
  /** For `today`: there is nothing to do if the day has been reviewed since that instant. */
  readonly cronTimeAt?: number | undefined;
  /** An explicitly requested delivery; by default a new run uses the configured one. */
  readonly delivery?: DeliveryKind | undefined;
  readonly reason?: string | undefined;
  /** What is right this time, and who says so. */
  readonly accepts?: { readonly kinds: readonly AcceptanceKind[]; readonly by: string } | undefined;
  /** Accepts bookings that an earlier day sent. */
  readonly acceptsRepeated?: boolean | undefined;
  /** How many records the source should hold. */
  readonly expected?: number | undefined;
  /** On whose word a run that failed is tried again; a person's unless it says otherwise. */
  readonly by?: Asker | undefined;
  /** The latest run of the day that the person has seen, null for none: nothing is done if there is a newer one. */
  readonly seenRunId?: string | null | undefined;
  /** The latest run of the day when this call began to wait for the day, null for none; absent if it did not wait. */
  readonly runBefore?: Run | null | undefined;
}

/** What the decision needs to know about the day. */
export interface DayToOpen extends DayRequest {
  readonly day: BusinessDay;
}

export type Opening =
  | {
      readonly kind: 'new';
      readonly replaces?: string;
      /** It sends only what the day's other runs have not delivered. */
      readonly topsUp?: true;
      /** The delivery it must use, whatever is configured. */
      readonly delivery?: DeliveryKind;
      /** How many records the source should hold, because no run has held that number yet. */
      readonly expected?: number;
    }
  | { readonly kind: 'resume'; readonly run: Run }
  | { readonly kind: 'already-done'; readonly run: Run }
  /** It was sent, and is accepted now. */
  | { readonly kind: 'accept'; readonly run: Run }
  | { readonly kind: 'usage-error'; readonly message: string };

/**
 * Decides what a request means for a day whose latest run is known. The caller holds the day, so the owner of an
 * active run here is gone.
 */
export function decideOpening(latest: Run | undefined, request: DayToOpen): Opening {
  const { mode, delivery } = request;
  if (mode === 'today') return openToday(latest, request);
  if (mode === 'resume') return openNamed(latest, request);
  if (!latest) return { kind: 'new' };
  if (!mayCompleteDay(latest)) return completeDay(latest, mode);
  if (latest.state === 'cancelled') {
    if (mode === 'run' && wasCancelledMeanwhile(latest, request))
      return { kind: 'already-done', run: latest };
    return mode === 'late' ? topUp(latest, request) : { kind: 'new' };
  }
  switch (mode) {
    case 'replay':
      return giveUp(latest, request, { kind: 'new' });
    case 'late':
      return giveUp(latest, request, topUp(latest, request));
    case 'run':
      if (!isUnfinished(latest))
        return wasCollectedEarly(request.day, latest) || hasUnexpectedCount(latest)
          ? topUp(latest, request)
          : { kind: isAcceptedBy(request, latest) ? 'accept' : 'already-done', run: latest };
      if (!mayContinue(latest, request.by)) return { kind: 'already-done', run: latest };
      return delivery === undefined || delivery === latest.delivery
        ? { kind: 'resume', run: latest }
        : {
            kind: 'usage-error',
            message:
              `run ${latest.id} of ${latest.day} is unfinished and delivers by ${latest.delivery}, not by ${delivery}: ` +
              `omit --delivery to resume it, or \`replay ${latest.day} --delivery ${delivery} --reason TEXT\` to start over`,
          };
  }
}

/**
 * A run of today resumes an unfinished one of its kind, and otherwise sends what is new. Another active run of the day
 * goes first; a failed one must not keep new bookings waiting, and is left to the nightly run. One of its kind that needs a person does:
 * what it could not send would be sent again.
 */
function openToday(
  latest: Run | undefined,
  { cronTimeAt = Number.POSITIVE_INFINITY, by }: DayToOpen,
): Opening {
  if (!latest) return { kind: 'new', delivery: 'body' };
  const isLeftAlone = latest.cancelReason !== undefined;
  if (!isLeftAlone && isUnfinished(latest) && !mayCompleteDay(latest))
    return { kind: mayContinue(latest, by) ? 'resume' : 'already-done', run: latest };
  return isLeftAlone || isActive(latest) || latest.startedAt >= cronTimeAt
    ? { kind: 'already-done', run: latest }
    : { kind: 'new', topsUp: true, delivery: 'body', ...keepExpected(latest) };
}

/** Whoever cancelled the run also cancelled it for those who waited for it. */
function wasCancelledMeanwhile(latest: Run, { runBefore }: DayToOpen): boolean {
  return runBefore !== undefined && !(runBefore?.id === latest.id && runBefore.state === 'cancelled');
}

/** Another run of the day may have replaced the requested one. */
function openNamed(latest: Run | undefined, { runId, by }: DayToOpen): Opening {
  if (!latest) throw new TypeError('a day without a run has none to resume');
  const isOpen = isActive(latest) || (by === 'result' && mayTryAgain(latest, by));
  return { kind: latest.id === runId && isOpen ? 'resume' : 'already-done', run: latest };
}

function isAcceptedBy({ accepts }: DayToOpen, run: Run): boolean {
  return accepts !== undefined && isToBeAccepted(run, accepts.kinds);
}

/** The number that the end-of-day hook expected, if no run has found it yet: the nightly run must still find it. */
function keepExpected(latest: Run): { readonly expected?: number } {
  const isMissed = latest.state === 'failed' || hasUnexpectedCount(latest);
  const isCarried = !mayCompleteDay(latest);
  return latest.expected !== undefined && (isMissed || isCarried) ? { expected: latest.expected } : {};
}

/**
 * The day has been reviewed while it was not over. Whatever delivery that took, the bookings are compared; an unfinished run
 * is given up without asking, because this one sends what it has not delivered.
 */
function completeDay(latest: Run, mode: 'run' | 'replay' | 'late'): Opening {
  return {
    kind: 'new',
    ...(mode !== 'replay' && { topsUp: true }),
    ...(isUnfinished(latest) && { replaces: latest.id }),
    ...keepExpected(latest),
  };
}

/** Whether an unfinished run goes on: an active one does, whoever asks. */
function mayContinue(run: Run, by: DayRequest['by'] = 'person'): boolean {
  return isActive(run) || mayTryAgain(run, by);
}

/** Whether it can still be resumed or cancelled. */
export function isUnfinished(run: Run): boolean {
  return isActive(run) || run.state === 'failed';
}

/** An unfinished run is only given up for a reason. */
function giveUp(latest: Run, { mode, reason }: DayToOpen, opening: Opening): Opening {
  if (opening.kind === 'usage-error' || !isUnfinished(latest)) return opening;
  const { id, day, state } = latest;
  if (reason !== undefined) return { ...opening, kind: 'new', replaces: id };
  const instead =
    mode === 'late' ? 'to abandon it and send what it has not delivered' : 'to abandon it and start over';
  return {
    kind: 'usage-error',
    message:
      `run ${id} of ${day} is unfinished (${state}): \`run ${day}\` resumes it; ` +
      `${instead}, give the reason with --reason TEXT`,
  };
}

/** A day is topped up by the delivery it began with, so that its review file covers all of it. */
function topUp(latest: Run, { delivery }: DayToOpen): Opening {
  const { id, day, delivery: before, expected } = latest;
  if (delivery === undefined || delivery === before) {
    const missed = hasUnexpectedCount(latest) && expected !== undefined ? { expected } : {};
    return { kind: 'new', topsUp: true, delivery: before, ...missed };
  }
  return {
    kind: 'usage-error',
    message:
      `run ${id} of ${day} delivered by ${before}, and late bookings must too, not by ${delivery}: omit ` +
      `--delivery, or send the whole day again with \`replay ${day} --delivery ${delivery}\``,
  };
}

/** No vowels and no look-alikes: easy to read out over the phone, and never a word. */
const letters = '23456789bcdfghjkmnpqrstvwxz';
const length = 8;

/**
 * A run's id: its day and eight random characters, for example `20261120-k3f9xq7d`. Safe in file names and queue ids.
 * Random rather than sequential, so that a new ledger never reuses the id of an archived run.
 */
export function createRunId(day: BusinessDay, random: () => number): string {
  const suffix = Array.from({ length }, () => letters[Math.floor(random() * letters.length)]).join('');
  return `${day.format('yyyyMMdd')}-${suffix}`;
}

const startOfRunId = /^(\d{4})(\d{2})(\d{2})-/;

/** Whether it is an id of a run, or a name that starts with one. */
export function isRunId(name: string): boolean {
  return startOfRunId.test(name);
}

/** The day of a run as YYYY-MM-DD, by its id or a name that starts with it. */
export function dayOfRunId(runId: string): string {
  const [, year, month, day] = startOfRunId.exec(runId) ?? [];
  if (day === undefined) throw new RangeError(`not named after a run: ${JSON.stringify(runId)}`);
  return `${year}-${month}-${day}`;
}

export interface OpenedRun {
  /** `accepted`: it was done, and is accepted now. */
  readonly kind: 'done' | 'accepted' | 'resumed' | 'new';
  readonly run: Run;
  /** Why the run that is resumed had failed. */
  readonly failedBefore?: RunFailure | undefined;
}

/** What a request means for its day now. @throws UsageError if that can't be done */
export async function findOpening(request: RunRequest, { ledger, deliveryFor }: ReviewParts) {
  const { day } = request;
  const latest = await ledger.runs.latest(day.iso);
  refuseUnseen(latest, request);
  const opening = decideOpening(latest, request);
  if (opening.kind === 'usage-error') throw new UsageError(opening.message);
  if (opening.kind === 'new' && opening.topsUp) await refuseIncomparable(day, ledger);
  if (opening.kind === 'resume') refuseMoreNames(opening.run, deliveryFor(opening.run.delivery).names);
  return { latest, opening };
}

/**
 * Opens or resumes the run of a day that we hold. Returns `lost` if another process may hold the day by now.
 */
export async function openRun(
  request: RunRequest,
  parts: ReviewParts,
  { lost }: Hold,
): Promise<OpenedRun | 'lost'> {
  const { ledger, clock, createRunId } = parts;
  const { day, trigger, reason, delivery, configuredDelivery, expected, acceptsRepeated, by } = request;
  const { latest, opening } = await findOpening(request, parts);
  // A process that was suspended here could open a day that others have finished or taken over since.
  if (lost.aborted) return 'lost';
  const acceptances = acceptancesIn(request.accepts, latest, clock());
  switch (opening.kind) {
    case 'already-done':
      return { kind: 'done', run: opening.run };
    case 'accept':
      return { kind: 'accepted', run: await acceptIn(request.accepts, opening.run, parts) };
    case 'resume':
      return {
        kind: 'resumed',
        run: await ledger.runs.takeOver(opening.run.id, { expected, acceptances, acceptsRepeated, by }),
        failedBefore: opening.run.failure,
      };
    case 'new': {
      const run = await ledger.runs.create({
        id: createRunId(day),
        day: day.iso,
        delivery: opening.delivery ?? delivery ?? configuredDelivery,
        trigger,
        startedAt: clock(),
        acceptances: { ...keepAcceptances(latest, opening), ...acceptances },
        expected: expected ?? opening.expected,
        acceptsRepeated,
        ...(reason !== undefined && { reason }),
        ...(opening.replaces !== undefined && { replaces: opening.replaces }),
        ...(opening.topsUp && { topsUp: true }),
      });
      return { kind: 'new', run };
    }
  }
}

/** Of affected bookings only those are accepted that are known. */
function acceptancesIn(
  accepts: DayRequest['accepts'],
  run: Run | undefined,
  at: number,
): Acceptances | undefined {
  if (accepts === undefined) return undefined;
  const { kinds, by } = accepts;
  const affected = run?.implausible?.affected;
  return {
    ...(kinds.includes('volume') && { volume: { at, by } }),
    ...(kinds.includes('affected') && affected !== undefined && { affected: { at, by, affected } }),
  };
}

/** The number of bookings that was accepted does not become less by what is added to it; a replay may find fewer. */
function keepAcceptances(latest: Run | undefined, { topsUp }: { readonly topsUp?: true }): Acceptances {
  const { volume, ...others } = latest?.acceptances ?? {};
  return { ...others, ...(topsUp && volume && { volume }) };
}

/** Records what the request accepts about the run, if anything. */
export async function acceptIn(
  accepts: DayRequest['accepts'],
  run: Run,
  { ledger, clock }: { readonly ledger: Ledger; readonly clock: () => number },
): Promise<Run> {
  const acceptances = acceptancesIn(accepts, run, clock());
  return acceptances ? ledger.runs.accept(run.id, acceptances) : run;
}

/** @throws UsageError if somebody has opened another run of the day since */
function refuseUnseen(latest: Run | undefined, { day, seenRunId }: RunRequest): void {
  if (seenRunId === undefined || (latest?.id ?? null) === seenRunId) return;
  throw new UsageError(
    `${day.iso} has changed meanwhile: ${latest ? `its latest run is ${latest.id} now (${latest.state})` : 'its run has gone'}`,
  );
}

/** @throws UsageError before creating a run that could only fail */
async function refuseIncomparable({ iso }: BusinessDay, ledger: ReadOnlyLedger): Promise<void> {
  const obstacle = describeIncomparable(await listRunsOfDay(ledger, iso));
  if (obstacle !== undefined) throw new UsageError(obstacle);
}

/** @throws UsageError if the run would send names that are not wanted any more */
function refuseMoreNames(run: Run, names: GuestNames): void {
  const { id, day, guestNames = 'send', collectedAt, counts } = run;
  const isMore = guestNames === 'send' && names === 'omit';
  if (collectedAt === undefined || counts.pending === 0 || !isMore) return;
  throw new UsageError(
    `run ${id} of ${day} was collected with guestNames: send, and resuming it would send the names that guestNames: omit ` +
      `leaves out: to collect the day again, \`replay ${day} --reason TEXT\`; or set guestNames back until it is done`,
  );
}
