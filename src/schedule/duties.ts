import { type BusinessDay, businessDayAt } from '../booking/business-day.js';
import { isActive, type Run } from '../review/run.js';
import { businessDayOf, holdsInstants, type Slots } from './slots.js';

/** What is to be done for a day. */
export interface Duty {
  readonly day: BusinessDay;
  /**
   * `start`: it has no run, or only one that was given up. `go-on`: its run is active; where its owner is alive, the day
   * is found busy, which harms nothing. `top-up`: it was collected before it ended. `resume`: its run failed of what may
   * have passed by now. `look`: its result is not there yet.
   */
  readonly kind: 'start' | 'go-on' | 'top-up' | 'resume' | 'look';
  /** True for the day that the last slot is for. */
  readonly isNightly: boolean;
}

export interface DutyQuestion {
  readonly slots: Slots;
  readonly now: Date;
  /** Since when this process watches the schedule: a slot that has passed since is due also for a new ledger. */
  readonly watchedSince: Date;
  /** How many days are made up for, besides those that the last slot is for. */
  readonly catchUpDays: number;
  /** How long a run that failed rests before it is taken up again. */
  readonly restMs: number;
  /** The first day that the ledger knows; undefined for an empty ledger. */
  readonly firstDay: string | undefined;
  /** The newest run of each day that has one, of the days of `findDayRange` at least. */
  readonly latestRuns: readonly Run[];
}

export type DayRangeQuestion = Pick<DutyQuestion, 'slots' | 'now' | 'catchUpDays'>;

/** Days from one to another, both counted in. */
export interface DayRange {
  readonly from: BusinessDay;
  readonly to: BusinessDay;
}

/**
 * What is to be done now, the most urgent first: the day that the last slot is for, then the other days, the oldest
 * first.
 *
 * **Owed** are the days that the last slot is for and the `catchUpDays` days before these. A slot is for all the days
 * since the slot of an earlier day: after a weekend without slots, Monday's is for Friday, Saturday and Sunday, so that
 * a pattern that doesn't fire daily leaves no day out. Several slots on one day are for the same day: the later ones
 * find it done, or look again. With `catchUpDays` 0 nothing but the days of the last slot is owed.
 *
 * Days before the first one that the ledger knows are not owed: nobody asked for them when this was set up. The one
 * exception is the last slot's day itself, when the slot passed while this process watched: so an empty ledger owes
 * nothing at the start, and its first day when the first slot comes.
 *
 * A day is `succeeded` and done only when its collect began after the day had ended in its zone.
 *
 * **Taken up again** (`resume`) are, of the same days and those since, up to today, which the end-of-day hook may have
 * started, runs that wait for a result, and runs that failed of a `retryable` cause `restMs` ago or longer. Never one
 * that failed for another reason: a person has to see to that.
 */
export function findDuties(question: DutyQuestion): Duty[] {
  const { slots, now, watchedSince, firstDay, latestRuns } = question;
  const slot = slots.last(now);
  const range = findDayRange(question);
  if (!slot || !range) return [];
  const nightly = businessDayOf(slot, slots.zone).iso;
  const isWatched = slot >= watchedSince;
  const isKnown = ({ iso }: BusinessDay) => firstDay !== undefined && iso >= firstDay;
  const runs = new Map(latestRuns.map((run) => [run.day, run]));

  const duties = listDays(range).flatMap((day): Duty[] => {
    const isNightly = day.iso === nightly;
    const isOwed = day.iso <= nightly && (isKnown(day) || (isNightly && isWatched));
    const kind = judgeDay(day, runs.get(day.iso), isOwed, question);
    return kind ? [{ day, kind, isNightly }] : [];
  });
  return [...duties.filter(({ isNightly }) => isNightly), ...duties.filter(({ isNightly }) => !isNightly)];
}

/** The days whose runs the question is about. Undefined while no slot has ever passed. */
export function findDayRange({ slots, now, catchUpDays }: DayRangeQuestion): DayRange | undefined {
  const slot = slots.last(now);
  if (!slot) return undefined;
  const slotDay = businessDayAt(slot, slots.zone);
  const slotBefore = slots.last(new Date(slotDay.firstInstant.getTime() - 1));
  const nightly = businessDayOf(slot, slots.zone);
  let from = slotBefore ? businessDayAt(slotBefore, slots.zone) : nightly;
  for (let missed = 0; missed < catchUpDays; missed += 1) from = from.previous();
  return { from, to: businessDayAt(now, slots.zone) };
}

function judgeDay(
  day: BusinessDay,
  run: Run | undefined,
  isOwed: boolean,
  { now, restMs }: DutyQuestion,
): Duty['kind'] | undefined {
  if (!run || run.state === 'cancelled') return isOwed ? 'start' : undefined;
  if (run.state === 'awaiting-result') return 'look';
  if (isActive(run)) return 'go-on';
  if (run.state === 'succeeded') return isOwed && wasCollectedEarly(day, run) ? 'top-up' : undefined;
  const rested = now.getTime() - (run.finishedAt ?? run.startedAt) >= restMs;
  return run.failure?.class === 'retryable' && rested ? 'resume' : undefined;
}

function wasCollectedEarly(day: BusinessDay, { collectStartedAt, startedAt }: Run): boolean {
  return (collectStartedAt ?? startedAt) <= day.lastInstant.getTime();
}

/** Oldest first, without days that the zone left out of its calendar. */
function listDays({ from, to }: DayRange): BusinessDay[] {
  const days: BusinessDay[] = [];
  for (let day = from; day.iso <= to.iso; day = day.next()) if (holdsInstants(day)) days.push(day);
  return days;
}
