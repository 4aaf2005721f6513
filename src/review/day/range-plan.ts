import { formatCount } from '../../base/format.js';
import { UsageError } from '../../base/safe-error.js';
import {
  type BusinessDay,
  businessDayAt,
  countDays,
  createBusinessDay,
  listDays,
} from '../../booking/business-day.js';
import type { ReadOnlyLedger } from '../../ledger/ledger.js';
import { groupByDay, isActive, type Run } from '../../rules/run.js';
import { describeIncomparable } from '../collect/delivered-lines.js';
import { lacksRun } from './missing-days.js';
import { type DayRequest, type DayToOpen, decideOpening } from './open-run.js';

/**
 * Which days of a range are reviewed, and how: `missing` are those without a run; `failed` those whose run failed or
 * was cut off, which is resumed; `all` get new runs; `late` are topped up. A day that a person cancelled is neither missing
 * nor failed.
 */
export const rangeModes = ['missing', 'failed', 'all', 'late'] as const;

export type RangeMode = (typeof rangeModes)[number];

/** What a replay does with a day. */
export type DayPlan =
  | { readonly action: 'new-run'; readonly replaces?: string }
  | { readonly action: 'resume'; readonly run: Run }
  | { readonly action: 'top-up'; readonly run: Run; readonly replaces?: string }
  /** The mode doesn't include the day. */
  | { readonly action: 'nothing'; readonly why: string; readonly run?: Run }
  | { readonly action: 'refused'; readonly message: string; readonly run: Run };

/** What a mode requests for each of its days, besides what the command line does. */
export function requestOf(
  mode: RangeMode | undefined,
  { delivery, reason, accepts }: Omit<DayRequest, 'mode'>,
): DayRequest {
  const asked = { delivery, reason, accepts };
  if (mode === 'late') return { mode, ...asked };
  return { mode: mode === 'missing' || mode === 'failed' ? 'run' : 'replay', ...asked };
}

/** @param latest the day's newest run as known now; the final decision is made when the day is started */
export function planDay(
  mode: RangeMode | undefined,
  latest: Run | undefined,
  request: Omit<DayToOpen, 'mode'>,
): DayPlan {
  const why = whyNot(mode, latest);
  if (why !== undefined) return { action: 'nothing', why, ...(latest && { run: latest }) };
  const opening = decideOpening(latest, { ...requestOf(mode, request), day: request.day });
  switch (opening.kind) {
    case 'new': {
      const replaces = opening.replaces === undefined ? {} : { replaces: opening.replaces };
      return opening.topsUp && latest
        ? { action: 'top-up', run: latest, ...replaces }
        : { action: 'new-run', ...replaces };
    }
    case 'resume':
      return { action: 'resume', run: opening.run };
    case 'already-done':
    case 'accept':
      return { action: 'nothing', why: 'is done', run: opening.run };
    case 'usage-error':
      if (!latest) throw new TypeError('a day without a run was refused');
      return { action: 'refused', message: opening.message, run: latest };
  }
}

/** A day of a range, YYYY-MM-DD, and what a replay would do with it. */
export interface PlannedDay {
  readonly day: string;
  readonly plan: DayPlan;
  /** Its newest run, if the ledger was asked for it. */
  readonly latest?: Run;
}

/** Whether a replay would review the day. */
export function isToReview({ plan }: PlannedDay): boolean {
  return plan.action !== 'nothing' && plan.action !== 'refused';
}

/** A plan in a few words. */
export function describePlan(plan: DayPlan): string {
  switch (plan.action) {
    case 'new-run':
      return `new run${describeReplaced(plan)}`;
    case 'resume':
      return `resume run ${plan.run.id} (${plan.run.state})`;
    case 'top-up':
      return `late bookings: top-up of run ${plan.run.id}${describeReplaced(plan)}`;
    case 'nothing':
      return plan.run
        ? `nothing: it ${plan.why} (${plan.run.id}, ${plan.run.state})`
        : `nothing: it ${plan.why}`;
    case 'refused':
      return `refused: run ${plan.run.id} is ${plan.run.state}`;
  }
}

function describeReplaced({ replaces }: { readonly replaces?: string }): string {
  return replaces === undefined ? '' : `; cancels run ${replaces}`;
}

/** Plans as `replay --dry-run --json` prints them. */
export function toPlanObjects(days: readonly PlannedDay[]) {
  return days.map(({ day, plan }) => ({
    day,
    action: plan.action,
    runId: 'run' in plan ? (plan.run?.id ?? null) : null,
    ...('replaces' in plan && { replaces: plan.replaces }),
    ...(plan.action === 'nothing' && { why: plan.why }),
    ...(plan.action === 'refused' && { why: plan.message }),
  }));
}

/** What a replay would do with each day of a range, judged from the ledger alone. */
export async function planRange(
  ledger: ReadOnlyLedger,
  days: readonly BusinessDay[],
  { mode, ...request }: Omit<DayRequest, 'mode'> & { readonly mode: RangeMode | undefined },
): Promise<PlannedDay[]> {
  const [from, to] = [days[0]?.iso ?? '', days.at(-1)?.iso ?? ''];
  const latest = new Map((await ledger.runs.listLatest({ from, to })).map((run) => [run.day, run]));
  const planned: PlannedDay[] = [];
  for (const day of days) {
    const run = latest.get(day.iso);
    const plan = planDay(mode, run, { ...request, day });
    const one = { day: day.iso, plan, ...(run && { latest: run }) };
    // Asked for each: few runs are active at once.
    const isPerformed =
      run && isActive(run) && isToReview(one) && (await ledger.steps.isBeingPerformed(run.id));
    planned.push(isPerformed ? refuse(one, run, `${day.iso} is being run by another process`) : one);
  }
  return refuseIncomparable(ledger, planned);
}

function refuse(one: PlannedDay, run: Run, message: string): PlannedDay {
  return { ...one, plan: { action: 'refused', message, run } };
}

/** Refuses to top up days whose delivered bookings can't be compared. It asks for all days at once: there may be hundreds. */
async function refuseIncomparable(ledger: ReadOnlyLedger, planned: PlannedDay[]): Promise<PlannedDay[]> {
  const toppedUp = planned.filter(({ plan }) => plan.action === 'top-up').map(({ day }) => day);
  const [from, to] = [toppedUp[0], toppedUp.at(-1)];
  if (from === undefined || to === undefined) return planned;
  const runs = groupByDay(await ledger.runs.listOfDays({ from, to }));
  return planned.map((one) => {
    const message = one.plan.action === 'top-up' && describeIncomparable(runs.get(one.day) ?? []);
    return message ? refuse(one, one.plan.run, message) : one;
  });
}

function whyNot(mode: RangeMode | undefined, latest: Run | undefined): string | undefined {
  const isAbandoned = latest?.cancelReason !== undefined;
  if (isAbandoned && (mode === 'missing' || mode === 'failed')) return 'was cancelled';
  if (mode === 'missing') return lacksRun(latest) ? undefined : 'has a run';
  if (mode !== 'failed') return undefined;
  if (latest === undefined || lacksRun(latest)) return 'has no run';
  return latest.state === 'failed' || isActive(latest) ? undefined : 'has not failed';
}

/**
 * A day that has not begun has no bookings: reviewing it would look like a quiet day.
 *
 * @param now epoch milliseconds
 * @throws UsageError
 */
export function requireBegun(day: BusinessDay, now: number): void {
  if (hasBegun(day, now)) return;
  const today = businessDayAt(new Date(now), day.zone);
  throw new UsageError(`${day.iso} has not started: in ${day.zone} it is ${today.iso}`);
}

/** One request must not send years of bookings. */
const mostDaysReplayed = 366;

/**
 * The days of a range that have begun, in their order; the others are left out.
 *
 * @param to YYYY-MM-DD
 * @throws UsageError if none of them has begun, for a range that ends before it begins, and for too many
 */
export function listBegunDays(from: BusinessDay, to: string, now: number): readonly BusinessDay[] {
  if (to < from.iso) throw new UsageError(`${to} is before ${from.iso}`);
  requireBegun(from, now);
  const today = businessDayAt(new Date(now), from.zone).iso;
  const last = to < today ? to : today;
  if (countDays(from.iso, last) > mostDaysReplayed)
    throw new UsageError(
      `${from.iso} to ${last} are ${formatCount(countDays(from.iso, last))} days, and a replay takes at most ${mostDaysReplayed} days at once: name a shorter range`,
    );
  return listDays(from.iso, last).map((day) => createBusinessDay(day, from.zone));
}

/** @param now epoch milliseconds */
export function hasBegun({ firstInstant }: BusinessDay, now: number): boolean {
  return firstInstant.getTime() <= now;
}
