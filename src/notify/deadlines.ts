import {
  type BusinessDay,
  businessDayAt,
  goBack,
  holdsInstants,
  instantAt,
} from '../booking/business-day.js';

/**
 * By when the day before must be reviewed: a time of day such as 06:00, or `none`. It may differ by business day, whose deadline is on
 * the day after it.
 */
export type Deadline =
  | string
  | {
      readonly at: string;
      /** By business day, YYYY-MM-DD. */
      readonly exceptions: Readonly<Record<string, string>>;
    };

const noDeadline = 'none';

/** How many days back a day can be late, so that a day that nobody will review is not reported for ever. */
const judgedDays = 31;

/** When it is asked, and the zone in which days and times of day are meant. */
interface LocalNow {
  readonly timezone: string;
  /** Epoch milliseconds */
  readonly now: number;
}

interface DeadlineQuestion extends LocalNow {
  readonly deadline: Deadline;
  /** When a process first looked at a deadline, epoch milliseconds: those that had passed by then do not count. */
  readonly countedFrom: number;
  /**
   * Those of `findJudgedDays` that were reviewed, YYYY-MM-DD. People were told about a day with far fewer bookings than usual when
   * it was sent: it is not late, too.
   */
  readonly reviewedDays: Iterable<string>;
}

/** The days that can be late now, both ends included. */
export function findJudgedDays({ timezone, now }: LocalNow) {
  const to = businessDayAt(new Date(now), timezone);
  return { from: goBack(to, judgedDays), to };
}

/**
 * Which days are late. Only the clock and the reviewed days matter: a day is late whether its run failed, still works, or never
 * started.
 *
 * @returns those that were not reviewed by their deadline and still are not, oldest first, and the next deadline of a day that is not
 *   reviewed yet, if there is one within a month
 */
export function judgeDeadlines(question: DeadlineQuestion) {
  const { deadline, now, countedFrom } = question;
  const reviewedDays = new Set(question.reviewedDays);
  const { from, to } = findJudgedDays(question);
  /** The days, YYYY-MM-DD, and when their deadlines passed, epoch milliseconds. */
  const late: { readonly day: string; readonly at: number }[] = [];
  // A month ahead, as a plan may leave out any number of days.
  let day = from;
  for (let ahead = 0; ahead <= judgedDays; day = day.next()) {
    if (day.iso > to.iso) ahead += 1;
    const at = reviewedDays.has(day.iso) ? undefined : findDeadline(day, deadline);
    if (at === undefined || at <= countedFrom) continue;
    if (at > now) return { late, next: { day: day.iso, at } };
    late.push({ day: day.iso, at });
  }
  return { late, next: undefined };
}

/** The days that nobody expects to be reviewed, YYYY-MM-DD. */
export function listExempt(deadline: Deadline | undefined): string[] {
  if (deadline === undefined || typeof deadline === 'string') return [];
  return Object.keys(deadline.exceptions).filter((day) => deadline.exceptions[day] === noDeadline);
}

/** By when a day must be reviewed, epoch milliseconds; undefined for a day without a deadline. */
export function findDeadline(day: BusinessDay, deadline: Deadline): number | undefined {
  const time = typeof deadline === 'string' ? deadline : (deadline.exceptions[day.iso] ?? deadline.at);
  if (time === noDeadline || !holdsInstants(day)) return undefined;
  return instantAt(day.next(), time).getTime();
}

/**
 * The last time of day at which a morning digest was due, and the day that it is about: the one before. Undefined if
 * that was before `countedFrom`.
 *
 * @param at the first time of day at which a channel gets it, HH:MM
 * @param countedFrom epoch milliseconds
 */
export function findDueDigest(
  at: string,
  { now, countedFrom, timezone }: LocalNow & { readonly countedFrom: number },
) {
  const today = businessDayAt(new Date(now), timezone);
  const date = instantAt(today, at).getTime() <= now ? today : today.previous();
  if (instantAt(date, at).getTime() <= countedFrom) return undefined;
  return { date: date.iso, day: date.previous().iso };
}
