import { defaultRetryPolicy, type RetryPolicy } from '../base/retry.js';
import type { ProxyRules } from '../transports/http/connection-rules.js';
import { readDate } from '../transports/http/peer-clocks.js';
import { describeHost } from '../transports/http/transport.js';
import { defaultDeletedTypes, readMappingsPage, readMasterHotelBrands } from './answers.js';
import { createCallWithRetries } from './call-with-retries.js';
import { createServiceClient, reviewByFilePath, reviewPath } from './client.js';
import type {
  Envelope,
  HttpStatusMeaning,
  LastPage,
  MappingService,
  MappingsPage,
  VerdictKind,
} from './operations.js';
import { createPager, type PagingRules, usualPaging } from './paging.js';
import { prepareExport, prepareHotels, prepareMappingsQuery, prepareRawRequest } from './requests.js';
import { defaultStatusCodes, type StatusCodeTable } from './verdict.js';

/** Large enough for the list of all brands. A page of mappings has its own limit. */
const maxAnswerBytes = 16_000_000;

/** Codes of the operations other than the reviews. (Design 6.) */
const codesOfOtherOperations: StatusCodeTable = {
  2006: 'refused', // invalid resume key
  2007: 'refused', // invalid date-time
  2012: 'refused', // invalid limit
  2016: 'refused', // sync id missing
  2017: 'refused', // date-time missing
  2025: 'refused', // e-mail missing
  2027: 'refused', // resume key expired
};

const asEnvelope = (envelope: Envelope) => envelope;

/**
 * The service's operations (spec 4), typed: each call is authenticated, retried where that is safe, and resolves only
 * with a success. Connections stay open until `close`.
 *
 * Calls reject with a MappingServiceError, with the signal's reason when aborted, and with a TypeError for what cannot
 * be sent.
 *
 * @throws TypeError when an option cannot be used; the message quotes neither the key nor the account
 */
export function createMappingService(options: CreateMappingServiceOptions): MappingService {
  const { baseUrl, apiKey, accountId } = options;
  const { policy, random, reading, paging, ...limits } = completeOptions(options);
  const statusCodes = { ...defaultStatusCodes, ...codesOfOtherOperations, ...options.statusCodes };
  const { httpStatus = {} } = options;
  const client = createServiceClient({
    ...{ baseUrl, apiKey, accountId, statusCodes, httpStatus, maxAnswerBytes },
    ...{ ca: options.ca, proxy: options.proxy },
    ...limits,
  });
  const closing = new AbortController();
  const call = createCallWithRetries({
    client,
    host: describeHost(baseUrl),
    statusCodes,
    policy,
    random,
    closed: closing.signal,
  });

  const service: MappingService = {
    async getMappings(query, options) {
      return call(
        {
          operation: 'getMappings',
          isRepeatable: true,
          ...prepareMappingsQuery(query),
          read: (envelope, date) => readMappingsPage(envelope, { ...reading, date }),
        },
        options,
      );
    },
    eachMappingsPage: ({ resumeKey: firstKey, ...query }, options) =>
      eachMappingsPage(
        (resumeKey) =>
          service.getMappings(resumeKey === undefined ? query : { ...query, resumeKey }, options),
        firstKey,
        paging,
      ),
    async reviewBookedHotels(hotels, options) {
      const body = prepareHotels(hotels, reading.masterIdName);
      return call(
        {
          operation: 'reviewBookedHotels',
          isRepeatable: true,
          method: 'POST',
          path: reviewPath,
          body,
          read: asEnvelope,
        },
        options,
      );
    },
    async reviewBookedHotelsByFile(ftpFilePath, options) {
      return call(
        {
          operation: 'reviewBookedHotelsByFile',
          isRepeatable: false,
          method: 'GET',
          path: reviewByFilePath(ftpFilePath),
          read: asEnvelope,
        },
        options,
      );
    },
    async getMasterHotelBrands(options) {
      return call(
        {
          operation: 'getMasterHotelBrands',
          isRepeatable: true,
          method: 'GET',
          path: '/content/GetMasterHotelBrands',
          read: readMasterHotelBrands,
        },
        options,
      );
    },
    async exportMappingsFile(request, options) {
      return call(
        {
          operation: 'exportMappingsFile',
          isRepeatable: false,
          ...prepareExport(request),
          read: (envelope, date) => ({ ...envelope, answeredAt: readDate(date) }),
        },
        options,
      );
    },
    async call(request, options) {
      return call(
        {
          operation: 'call',
          isRepeatable: request.isRepeatable === true,
          ...prepareRawRequest(request),
          read: asEnvelope,
        },
        options,
      );
    },
    close() {
      closing.abort();
      return client.close();
    },
  };
  return service;
}

/**
 * All pages of Get Mappings (spec 4.1), one after another from the given resume key on.
 *
 * @throws MappingServiceError when the pages would never end
 */
async function* eachMappingsPage(
  getPage: (resumeKey: string | undefined) => Promise<MappingsPage>,
  firstKey: string | undefined,
  rules: PagingRules,
): AsyncGenerator<MappingsPage, void, undefined> {
  const pager = createPager(rules);
  let key = firstKey;
  do {
    const page = await getPage(key);
    key = pager.next(page, key);
    yield page;
  } while (key !== undefined);
}

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

const dayInMs = 86_400_000;

/** The options with all defaults filled in. @throws TypeError for a number that cannot be used */
function completeOptions(options: CreateMappingServiceOptions) {
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
