import { linearRegression } from 'simple-statistics';

/** A linear cost: a fixed part, and a part per million bookings. */
export interface StraightLine {
  readonly fixed: number;
  readonly perMillion: number;
}

export interface Point {
  readonly bookings: number;
  readonly value: number;
}

/** The least-squares line through measured points. */
export function fitLine(points: readonly Point[]): StraightLine {
  const { m, b } = linearRegression(points.map(({ bookings, value }) => [bookings / 1e6, value]));
  return { fixed: b, perMillion: m };
}

export function predict({ fixed, perMillion }: StraightLine, bookings: number): number {
  return fixed + (perMillion * bookings) / 1e6;
}

/** The relative deviation of the measured value from the prediction; negative where it is smaller. */
export function deviation(predicted: number, measured: number): number {
  return measured / predicted - 1;
}

/** The processes that send a day, and the service. */
export interface Crew {
  /** All processes that perform steps: `run`, `serve` and `work`. */
  readonly processes: number;
  /** Concurrent calls per process. */
  readonly concurrency: number;
  readonly batchSize: number;
  /** The service's own latency. */
  readonly answerSeconds: number;
  /** What our side adds to a call: claim, read, send, record, and the queue. */
  readonly ownSeconds: number;
  /** Over all processes. */
  readonly requestsPerSecond?: number;
  /** The share of calls that the service refuses with Retry-After. */
  readonly pushBackShare?: number;
  readonly retryAfterSeconds?: number;
}

/**
 * Calls per second by the rule: concurrent calls divided by the time per call, capped by the rate limit; each refusal
 * makes all processes wait.
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

/** The time that our side adds to a call, from a rate measured without limit or refusals. */
export function ownSecondsOf(
  { processes, concurrency, answerSeconds }: Pick<Crew, 'processes' | 'concurrency' | 'answerSeconds'>,
  measuredCallsPerSecond: number,
): number {
  return Math.max(0, (processes * concurrency) / measuredCallsPerSecond - answerSeconds);
}

/** The duration of a day where only the service's rate limits it. */
export function hoursAtLimit(bookings: number, requestsPerSecond: number, batchSize: number): number {
  return bookings / (requestsPerSecond * batchSize) / 3600;
}

/** The number of processes needed to send this many bookings in this many hours, rounded up. */
export function processesFor(bookings: number, hours: number, crew: Omit<Crew, 'processes'>): number {
  const wanted = bookings / (hours * 3600) / crew.batchSize;
  return Math.max(1, Math.ceil((wanted * (crew.answerSeconds + crew.ownSeconds)) / crew.concurrency));
}

/** The size of the ledger when days of that size are kept that long, in GB. */
export function gigabytesKept(bytesPerBooking: number, bookingsPerDay: number, days: number): number {
  return (bytesPerBooking * bookingsPerDay * days) / 1e9;
}
