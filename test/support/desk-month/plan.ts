import type { Sandbox } from '../../../src/sandbox/sandbox.js';

/** What happens to a day of the month that browser tests and screenshots look at. */
export type Course =
  | 'good'
  /** The end-of-day hook started it. */
  | 'called'
  /** The service was down. */
  | 'failed'
  /** Nobody ran it. */
  | 'missing'
  /** Its result never arrived. */
  | 'awaiting'
  /** It had far fewer bookings than usual, and was not sent. */
  | 'dropped'
  /** The service did not take some of its bookings. */
  | 'refused'
  /** Its result lacks verdicts. */
  | 'unanswered'
  /** The service was down, and somebody replayed it in the morning. */
  | 'replayed'
  /** Nobody ran it in its night, and the schedule caught up the next night. */
  | 'caught-up'
  /** Some of its bookings arrived late. */
  | 'topped-up'
  /** Somebody cancelled it while it waited for its result. */
  | 'cancelled';

/** By how many days before today. All others are good. */
const notable: ReadonlyMap<number, Course> = new Map([
  [1, 'failed'],
  [2, 'awaiting'],
  [3, 'called'],
  [5, 'replayed'],
  [7, 'missing'],
  [9, 'caught-up'],
  // Compared with three of the same weekday before it.
  [10, 'dropped'],
  [12, 'refused'],
  [13, 'unanswered'],
  [16, 'cancelled'],
  [18, 'topped-up'],
]);

export interface PlannedDay {
  /** YYYY-MM-DD */
  readonly iso: string;
  readonly course: Course;
  readonly delivery: 'body' | 'file';
  readonly bookings: number;
  /** How many of them confuse hotels. */
  readonly wrong: number;
}

export interface MonthOptions {
  /** YYYY-MM-DD; the month ends with the day before. */
  readonly today: string;
  /** How long it is; 31 by default. */
  readonly days?: number;
  readonly bookingsADay: number;
  /** Bookings that confuse hotels, on the days that have some. */
  readonly wrongADay: number;
  /** By how many days before today: further days on which the service was down. */
  readonly outages?: readonly number[];
  /** How many times as fast as the real one the clock is at night; 200 by default: what takes a blink seems to take a minute. */
  readonly speed?: number;
  /** Other settings than those of the sandbox. */
  readonly settings?: (sandbox: Sandbox) => OtherSettings;
}

export interface OtherSettings {
  /** Of the service. */
  readonly baseUrl?: string;
  readonly [name: string]: unknown;
}

const dayMs = 86_400_000;
const byFile: readonly Course[] = ['awaiting', 'cancelled', 'unanswered'];
const byBody: readonly Course[] = ['failed', 'refused', 'replayed'];

/** The days before that one, oldest first. Weekends are quieter. */
export function planMonth({
  today,
  days = 31,
  bookingsADay,
  wrongADay,
  outages = [],
}: MonthOptions): readonly PlannedDay[] {
  return Array.from({ length: days }, (_, place) => {
    const daysAgo = days - place;
    const date = new Date(Date.parse(today) - daysAgo * dayMs);
    const course = outages.includes(daysAgo) ? 'failed' : (notable.get(daysAgo) ?? 'good');
    const isQuiet = [0, 6].includes(date.getUTCDay());
    const share = course === 'dropped' ? 0.2 : (isQuiet ? 0.7 : 1) * (1 + ((place * 7) % 11) / 40);
    const isByFile = byFile.includes(course) || (place % 3 !== 1 && !byBody.includes(course));
    return {
      iso: date.toISOString().slice(0, 10),
      course,
      delivery: isByFile ? 'file' : 'body',
      bookings: Math.round(bookingsADay * share),
      wrong: place % 4 === 1 ? wrongADay : 0,
    };
  });
}

/** The last day that went that way. */
export function dayOf(month: readonly PlannedDay[], course: Course): string {
  const found = month.findLast((day) => day.course === course);
  if (!found) throw new RangeError(`the month has no day that is ${course}`);
  return found.iso;
}
