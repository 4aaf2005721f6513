import type { RetryPolicy } from '../async/retry.js';
import type { VerdictKind } from './mapping-service.js';

export interface CreateMappingServiceOptions {
  /** The service's address up to and with its version: `https://service.example.com/api/3.0`. (Spec 9.) */
  readonly baseUrl: string;
  /** Sent as the header `apikey`. (Spec 5.) */
  readonly apiKey: string;
  /** Sent as the header `accountId`. (Spec 5.) */
  readonly accountId: string;
  /** For a whole call, default 30. Each try has it anew. */
  readonly timeoutSeconds?: number;
  /** For opening a connection, default 10; part of the whole call's time. */
  readonly connectTimeoutSeconds?: number;
  /** How many connections are kept at most, default 8; calls beyond them wait for a free one. */
  readonly connections?: number;
  /** When a call is made again, as far as it differs from `defaultRetryPolicy`. */
  readonly retry?: Partial<RetryPolicy>;
  /** What each `StatusCode` inside an HTTP 200 means, where it differs from the defaults. */
  readonly statusCodes?: Readonly<Record<number, VerdictKind>>;
  /** What this deployment of the service calls the master hotel id in JSON, default `ServiceId`. */
  readonly masterIdName?: string;
  /** Tells from when a `Retry-After` counts that is a date. */
  readonly clock?: () => Date;
  /** Uniform in [0, 1): spreads the waits between tries. */
  readonly random?: () => number;
}

/** Six tries; between them up to 1, 2, 4, 8 and 16 seconds. The service may ask for longer waits. */
export const defaultRetryPolicy: RetryPolicy = {
  tries: 6,
  waits: 20,
  baseMs: 1_000,
  capMs: 60_000,
  retryAfterCapMs: 300_000,
};

const dayInMs = 86_400_000;

/** The options with nothing left to default. @throws TypeError for a number that cannot be used */
export function completeOptions(options: CreateMappingServiceOptions) {
  const { timeoutSeconds = 30, connectTimeoutSeconds = 10, connections = 8, retry } = options;
  const policy = { ...defaultRetryPolicy, ...retry };
  checkWhole('connections', connections, 1);
  checkWhole('retry.tries', policy.tries, 1);
  checkWhole('retry.waits', policy.waits, 0);
  for (const name of ['baseMs', 'capMs', 'retryAfterCapMs'] as const)
    checkWait(`retry.${name}`, policy[name]);
  return {
    timeoutMs: toMilliseconds('timeoutSeconds', timeoutSeconds),
    connectTimeoutMs: toMilliseconds('connectTimeoutSeconds', connectTimeoutSeconds),
    connections,
    policy,
    masterIdName: options.masterIdName ?? 'ServiceId',
    clock: options.clock ?? (() => new Date()),
    random: options.random ?? Math.random,
  };
}

function checkWhole(name: string, value: number, from: number): void {
  if (!Number.isSafeInteger(value) || value < from) {
    throw new TypeError(`${name} must be a whole number from ${from} on.`);
  }
}

/** A timer that is set for longer than 24 days goes off at once. */
function checkWait(name: string, milliseconds: number): void {
  if (!(milliseconds >= 0 && milliseconds <= dayInMs)) {
    throw new TypeError(`${name} must be a number of milliseconds from 0 to ${dayInMs}, which is a day.`);
  }
}

function toMilliseconds(name: string, seconds: number): number {
  if (!(seconds > 0 && seconds <= 3_600)) {
    throw new TypeError(`${name} must be a number of seconds above 0, and 3600 at most.`);
  }
  return seconds * 1000;
}
