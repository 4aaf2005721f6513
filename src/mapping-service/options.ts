import type { RetryPolicy } from '../async/retry.js';
import type { ProxyRules } from '../http/connection-rules.js';
import { isLoopback } from '../http/syntax.js';
import type { HttpStatusMeaning, LastPage, VerdictKind } from './operations.js';
import { usualPaging } from './paging.js';

export interface CreateMappingServiceOptions {
  /** The service's address including its version: `https://service.example.com/api/3.0`. (Spec 9.) */
  readonly baseUrl: string;
  /** Sent as the header `apikey`. (Spec 5.) */
  readonly apiKey: string;
  /** Sent as the header `accountId`. (Spec 5.) */
  readonly accountId: string;
  /** For a whole call, default 30; each try has all of it. */
  readonly timeoutSeconds?: number;
  /** For opening a connection, default 10; part of the whole call's time. */
  readonly connectTimeoutSeconds?: number;
  /** Maximum number of connections, default 8; further calls wait for a free one. */
  readonly connections?: number;
  /** A PEM file with the authority's certificate: only servers that it signed are then trusted. */
  readonly ca?: string | undefined;
  /** The proxy for https, and the hosts that are reached without it; default: none. */
  readonly proxy?: ProxyRules | undefined;
  /** When a call is repeated, where it differs from `defaultRetryPolicy`. */
  readonly retry?: Partial<RetryPolicy>;
  /** The meaning of each `StatusCode` inside an HTTP 200, where it differs from the defaults. */
  readonly statusCodes?: Readonly<Record<number, VerdictKind>>;
  /** The meaning of each HTTP status from 400 on, where it differs from the defaults. */
  readonly httpStatus?: Readonly<Record<number, HttpStatusMeaning>>;
  /** The name of the master hotel id in this deployment's JSON, default `ServiceId`. */
  readonly masterIdName?: string;
  /** The values of `Type` that mean a deleted mapping, in any case; default `Delete` and `Deleted`. */
  readonly deletedTypes?: readonly string[];
  /** A page of which a larger share of the mappings cannot be read, and more than five, is an error; default 0.1. */
  readonly maxSkippedShare?: number;
  /** Which page of mappings is the last one, default `either`. */
  readonly lastPage?: LastPage;
  /** How many consecutive pages may contain nothing new before the service counts as broken, default 10. */
  readonly maxPagesWithoutNews?: number;
  /** The time from which a `Retry-After` date counts. */
  readonly clock?: () => Date;
  /** Uniform in [0, 1): spreads the waits between tries. */
  readonly random?: () => number;
}

/** Six tries, with up to 1, 2, 4, 8 and 16 seconds between them. The service may ask for longer waits. */
export const defaultRetryPolicy: RetryPolicy = {
  tries: 6,
  waits: 20,
  baseMs: 1_000,
  capMs: 60_000,
  retryAfterCapMs: 300_000,
};

/** Values of `Type` observed in a live deployment. (Design 6.) */
export const defaultDeletedTypes: readonly string[] = ['Delete', 'Deleted'];

const dayInMs = 86_400_000;

/** The options with all defaults filled in. @throws TypeError for a number that cannot be used */
export function completeOptions(options: CreateMappingServiceOptions) {
  const { timeoutSeconds = 30, connectTimeoutSeconds = 10, connections = 8, retry } = options;
  const { lastPage, maxPagesWithoutNews, maxSkippedShare = 0.1 } = { ...usualPaging, ...options };
  const policy = { ...defaultRetryPolicy, ...retry };
  checkWhole('connections', connections, 1);
  checkWhole('retry.tries', policy.tries, 1);
  checkWhole('retry.waits', policy.waits, 0);
  for (const name of ['baseMs', 'capMs', 'retryAfterCapMs'] as const)
    checkWait(`retry.${name}`, policy[name]);
  checkWhole('maxPagesWithoutNews', maxPagesWithoutNews, 1);
  if (!(maxSkippedShare >= 0 && maxSkippedShare <= 1)) {
    throw new TypeError('maxSkippedShare must be a share from 0 to 1.');
  }
  if (!['null-key', 'empty-page', 'either'].includes(lastPage)) {
    throw new TypeError('lastPage must be null-key, empty-page or either.');
  }
  return {
    timeoutMs: toMilliseconds('timeoutSeconds', timeoutSeconds),
    connectTimeoutMs: toMilliseconds('connectTimeoutSeconds', connectTimeoutSeconds),
    connections,
    policy,
    reading: {
      masterIdName: options.masterIdName ?? 'ServiceId',
      deletedTypes: new Set((options.deletedTypes ?? defaultDeletedTypes).map((type) => type.toLowerCase())),
      maxSkippedShare,
    },
    paging: { lastPage, maxPagesWithoutNews },
    clock: options.clock ?? (() => new Date()),
    random: options.random ?? Math.random,
  };
}

function checkWhole(name: string, value: number, minimum: number): void {
  if (!Number.isSafeInteger(value) || value < minimum) {
    throw new TypeError(`${name} must be a whole number, ${minimum} or more.`);
  }
}

/** A timer set for more than 24 days fires at once. */
function checkWait(name: string, milliseconds: number): void {
  if (!(milliseconds >= 0 && milliseconds <= dayInMs)) {
    throw new TypeError(`${name} must be a number of milliseconds from 0 to ${dayInMs}, which is a day.`);
  }
}

function toMilliseconds(name: string, seconds: number): number {
  if (!(seconds > 0 && seconds <= 3_600)) {
    throw new TypeError(`${name} must be a number of seconds above 0 and at most 3600.`);
  }
  return seconds * 1000;
}

/**
 * Says why an address cannot be the service's, for the person who configured it; undefined when it can.
 *
 * The words never repeat the address, which may hold a password. Plain `http://` is for loopback only, because the API
 * key travels in a header. (Design 10.)
 */
export function checkBaseUrl(url: string): string | undefined {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (address === undefined) return 'is not a URL; it looks like https://service.example.com/api/3.0';
  if (address.protocol !== 'https:' && address.protocol !== 'http:') return 'must begin with https://';
  if (address.username !== '' || address.password !== '') {
    return 'must not hold a user name or a password; apiKey and accountId identify the caller';
  }
  // An empty query or fragment shows only as `?` or `#` in the address.
  if (address.href.includes('?')) return 'must not hold a query; it ends with the version, as in /api/3.0';
  if (address.href.includes('#')) return 'must not hold a fragment; it ends with the version, as in /api/3.0';
  if (address.protocol === 'http:' && !isLoopback(address.hostname)) {
    return 'must begin with https://; plain http:// is allowed for this machine only (localhost, 127.0.0.1, [::1])';
  }
  return undefined;
}

/** @throws TypeError for a value that a header cannot hold; the message does not quote it */
export function checkHeaderValue(name: string, value: string): string {
  if (/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value)) return value;
  throw new TypeError(
    `The mapping service's ${name} must be plain printable ASCII, not empty and without surrounding blanks.`,
  );
}
