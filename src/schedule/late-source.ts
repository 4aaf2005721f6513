import type { Run, RunFailure } from '../ledger/run.js';
import type { Slots } from './slots.js';

/** The code of a run whose source was not there, or not marked as done, and that is retried. */
const missing = 'missing';
/** The code of a run whose source did not arrive in time. */
export const givenUpCode = 'source-given-up';

/**
 * Until when a day whose source is not there yet is tried again, epoch milliseconds: the first time of day to give up after the
 * slot or the hook's call that started its run. Undefined for any other run; one that a person started is that person's.
 *
 * @param giveUps the time of day at which to give up, every day
 */
export function findSourceDeadline(run: Run, giveUps: Pick<Slots, 'next'>): number | undefined {
  const { state, failure, trigger, startedAt } = run;
  if (state !== 'failed' || failure?.code !== missing) return undefined;
  if (trigger !== 'schedule' && trigger !== 'hook') return undefined;
  return giveUps.next(new Date(startedAt))?.getTime();
}

/** Whether the source of a run did not arrive in time. A run that a person has retried since is not given up again. */
export function isToGiveUp(run: Run, giveUps: Pick<Slots, 'next'>, now: number): boolean {
  const deadline = findSourceDeadline(run, giveUps);
  return deadline !== undefined && deadline <= now && (run.collectStartedAt ?? run.startedAt) < deadline;
}

/** How long before a source is given up it is tried for the last time. */
export const lastTryMs = 60_000;

/**
 * Whether a run whose source is missing has its last try now: once, by whichever process comes first, however recent
 * the previous try.
 */
export function isLastTry(run: Run, giveUps: Pick<Slots, 'next'>, now: number): boolean {
  const deadline = findSourceDeadline(run, giveUps);
  if (deadline === undefined) return false;
  const begin = deadline - lastTryMs;
  return now >= begin && now < deadline && (run.collectStartedAt ?? run.startedAt) < begin;
}

/** How a run fails for good. */
export function describeGivenUp({ day, failure }: Run): RunFailure {
  return {
    class: 'data',
    code: givenUpCode,
    message: `${failure?.message ?? 'the source is missing'}; it did not arrive in time and is not tried again: once it is there, run ${day} again`,
  };
}

/** The pattern of a time of day such as 12:00. */
export function toDailyPattern(time: string): string {
  const [hours, minutes] = time.split(':').map(Number);
  return `${minutes} ${hours} * * *`;
}
