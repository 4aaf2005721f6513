import { linearRegression } from 'simple-statistics';

/** What a thing costs whatever the size of the day, and what each million bookings adds. */
export interface StraightLine {
  readonly fixed: number;
  readonly perMillion: number;
}

export interface Point {
  readonly bookings: number;
  readonly value: number;
}

/** The line through measured points, by least squares. */
export function fitLine(points: readonly Point[]): StraightLine {
  const { m, b } = linearRegression(points.map(({ bookings, value }) => [bookings / 1e6, value]));
  return { fixed: b, perMillion: m };
}

export function predict({ fixed, perMillion }: StraightLine, bookings: number): number {
  return fixed + (perMillion * bookings) / 1e6;
}

/** By how much of the prediction the measured value is larger; negative where it is smaller. */
export function deviation(predicted: number, measured: number): number {
  return measured / predicted - 1;
}

/** Who sends a day, and to whom. */
export interface Crew {
  /** `run`, `serve` and `work`, all that perform steps. */
  readonly processes: number;
  /** Calls at the same time, for each process. */
  readonly concurrency: number;
  readonly batchSize: number;
  /** Of the service's own. */
  readonly answerSeconds: number;
  /** What this side adds to a call: claim, read, send, record, and the queue. */
  readonly ownSeconds: number;
  /** Over all processes. */
  readonly requestsPerSecond?: number;
  /** The share of calls that the service pushes back. */
  readonly pushBackShare?: number;
  readonly retryAfterSeconds?: number;
}

/**
 * Calls a second, as the rule says: so many calls are under way at once, each takes so long, the rate limit caps that,
 * and each push-back has everybody wait.
 */
export function callsPerSecond(crew: Crew): number {
  const { processes, concurrency, answerSeconds, ownSeconds } = crew;
  const { requestsPerSecond = Number.POSITIVE_INFINITY, pushBackShare = 0, retryAfterSeconds = 0 } = crew;
  const unhindered = Math.min((processes * concurrency) / (answerSeconds + ownSeconds), requestsPerSecond);
  return unhindered / (1 + unhindered * pushBackShare * retryAfterSeconds);
}

export function bookingsPerSecond(crew: Crew): number {
  return callsPerSecond(crew) * crew.batchSize;
}

/** The time this side adds to a call, from a rate that was measured without limit or push-back. */
export function ownSecondsOf(
  { processes, concurrency, answerSeconds }: Pick<Crew, 'processes' | 'concurrency' | 'answerSeconds'>,
  measuredCallsPerSecond: number,
): number {
  return Math.max(0, (processes * concurrency) / measuredCallsPerSecond - answerSeconds);
}

/** How long a day takes where the service's limit is the only one. */
export function hoursAtLimit(bookings: number, requestsPerSecond: number, batchSize: number): number {
  return bookings / (requestsPerSecond * batchSize) / 3600;
}

/** How many processes it takes to send so many bookings in so many hours; fractions of a process are one more. */
export function processesFor(bookings: number, hours: number, crew: Omit<Crew, 'processes'>): number {
  const wanted = bookings / (hours * 3600) / crew.batchSize;
  return Math.max(1, Math.ceil((wanted * (crew.answerSeconds + crew.ownSeconds)) / crew.concurrency));
}

/** What the ledger holds when days of that size are kept so long, in GB. */
export function gigabytesKept(bytesPerBooking: number, bookingsPerDay: number, days: number): number {
  return (bytesPerBooking * bookingsPerDay * days) / 1e9;
}
