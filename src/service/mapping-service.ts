import { pause } from '../base/abort.js';
import { createRetryDelays, type RetryPolicy } from '../base/retry.js';
import { readDate } from '../transports/http/peer-clocks.js';
import { describeHost, encodeQueryPart } from '../transports/http/transport.js';
import type { ProxyRules } from '../transports/http/tunnel.js';
import {
  type Fields,
  InvalidField,
  readJson,
  readMappingsPage,
  readMasterHotelBrands,
  readSuccess,
} from './answers.js';
import { type CallResult, type StatusCodeTable, tooLargeCode } from './call-result.js';
import { checkHeaderValue, createServiceClient, type ServiceRequest } from './client.js';
import { invalidAnswer, MappingServiceError, type ServiceErrorKind } from './errors.js';
import type { MappingService } from './operations.js';

/** Large enough for the list of all brands. */
const maxAnswerBytes = 16_000_000;
/** More mappings than asked for are taken, as long as they fit. */
const maxPageBytes = (limit: number) => 1_000_000 + 2_000 * limit;
const connections = 8;
const connectTimeoutMs = 10_000;

/** Codes of these operations. */
const ownStatusCodes: StatusCodeTable = {
  2006: 'refused', // invalid resume key
  2007: 'refused', // invalid date-time
  2012: 'refused', // invalid limit
  2016: 'refused', // sync id missing
  2017: 'refused', // date-time missing
  2025: 'refused', // e-mail missing
  2027: 'refused', // resume key expired
};

export interface MappingServiceOptions {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly accountId: string;
  /** For a whole call; each try has all of it. */
  readonly timeoutSeconds: number;
  /** The name of the master hotel id in this deployment's JSON. */
  readonly masterIdName: string;
  readonly statusCodes: StatusCodeTable;
  readonly proxy: ProxyRules | undefined;
  readonly retry: RetryPolicy;
  /** The time from which a `Retry-After` date counts. */
  readonly clock: () => Date;
  /** Uniform in [0, 1): spreads the waits between tries. */
  readonly random: () => number;
}

/** @throws TypeError for an address, key or account that cannot be used; the message quotes none of them */
export function createMappingService(options: MappingServiceOptions): MappingService {
  const { baseUrl, apiKey, accountId, timeoutSeconds, masterIdName, proxy, retry, clock, random } = options;
  const statusCodes = { ...ownStatusCodes, ...options.statusCodes };
  const timeoutMs = timeoutSeconds * 1000;
  const client = createServiceClient({
    ...{ baseUrl, apiKey, accountId, statusCodes, proxy, clock },
    ...{ maxAnswerBytes, connections, timeoutMs, connectTimeoutMs },
  });

  async function tryOnce<Answer>(
    { operation, ...request }: OperationCall,
    read: (answer: Fields, date: string | undefined) => Answer,
    signal: AbortSignal,
  ) {
    const { result, answer } = await client.call({ ...request, method: 'GET' }, { signal });
    try {
      const json = answer && readJson(answer);
      if (result.kind === 'accepted') return { value: read(readSuccess(json), answer?.date) };
      // JSON without an envelope is an error at once, because another try would not change it.
      if (json !== undefined && !isRefusal(result, statusCodes)) readSuccess(json);
      return { failed: result };
    } catch (error) {
      throw error instanceof InvalidField ? invalidAnswer(operation, error, result) : error;
    }
  }

  /**
   * Makes one call, with its retries.
   *
   * @param read reads the answer of a success; throws InvalidField
   */
  async function call<Answer>(
    asked: OperationCall,
    read: (answer: Fields, date: string | undefined) => Answer,
    signal: AbortSignal,
  ): Promise<Answer> {
    const nextDelayMs = createRetryDelays(retry, random);
    for (let made = 1; ; made += 1) {
      const { failed, value } = await tryOnce(asked, read, signal);
      if (failed === undefined) return value;
      const delayMs = mayRepeat(failed, asked) ? nextDelayMs(failed.retryAfterMs) : undefined;
      if (delayMs === undefined) throw failedCall(failed, { ...asked, host: describeHost(baseUrl) }, made);
      await pause(delayMs, signal);
      signal.throwIfAborted();
    }
  }

  return {
    async getMappings({ lastUpdateDateTime, syncId, providerFamily, resumeKey, limit }, { signal }) {
      const request = {
        operation: 'getMappings',
        startsWork: false,
        path: addQuery('/mappings', {
          lastUpdateDateTime: lastUpdateDateTime.toISOString(),
          providerFamily,
          resumeKey,
          limit: String(limit),
        }),
        headers: ['syncId', checkHeaderValue('syncId', syncId)],
        maxAnswerBytes: maxPageBytes(limit),
      };
      return call(request, (answer, date) => readMappingsPage(answer, masterIdName, date), signal);
    },
    async getMasterHotelBrands({ signal }) {
      const path = '/content/GetMasterHotelBrands';
      const request = { operation: 'getMasterHotelBrands', startsWork: false, path };
      return call(request, readMasterHotelBrands, signal);
    },
    async exportMappingsFile({ emailId, providers }, { signal }) {
      const path = addQuery('/mappings/ExportMappingsFile', { emailId });
      // The commas stay unencoded, for servers that split the list before decoding it.
      const names = providers.map(encodeQueryPart).join(',');
      const request = {
        operation: 'exportMappingsFile',
        startsWork: true,
        path: names === '' ? path : `${path}&providerfamilies=${names}`,
      };
      return call(request, (_, date) => ({ answeredAt: readDate(date) }), signal);
    },
    close: () => client.close(),
  };
}

/** A path with its query: parameters in the given order, those without a value left out. */
function addQuery(path: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const query = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [`${encodeQueryPart(name)}=${encodeQueryPart(value)}`],
  );
  return `${path}?${query.join('&')}`;
}

/** A GET. */
interface OperationCall extends Omit<ServiceRequest, 'method' | 'body' | 'startsWork'> {
  /** For messages: `getMappings`. */
  readonly operation: string;
  /**
   * A call that starts work may not be made twice: it is repeated only where the service cannot have processed it. Required, so that no
   * operation is repeated because nobody thought of it.
   */
  readonly startsWork: boolean;
}

type FailedCall = Exclude<CallResult, { readonly kind: 'accepted' }>;

/** A refusal need not have the form of a success. */
function isRefusal({ statusCode }: CallResult, statusCodes: StatusCodeTable): boolean {
  return statusCode !== undefined && statusCodes[statusCode] !== 'accepted';
}

function mayRepeat(
  result: FailedCall,
  { startsWork }: OperationCall,
): result is Extract<CallResult, { readonly kind: 'retryable' }> {
  // The same answer would be as large again.
  if (result.code === tooLargeCode) return false;
  return result.kind === 'retryable' && !(startsWork && result.outcomeUnknown);
}

const itsWords = "The service's own words, if any, are in the error's answer.";

/**
 * The error for a call that failed.
 *
 * @param made how many times the call was made
 */
function failedCall(
  result: FailedCall,
  { operation, startsWork, host }: OperationCall & { readonly host: string },
  made: number,
): MappingServiceError {
  const { code, httpStatus, statusCode, answer } = result;
  const fail = (kind: ServiceErrorKind, message: string, outcomeUnknown?: true) =>
    new MappingServiceError(`${operation} ${message}`, {
      ...{ kind, code, operation, httpStatus, statusCode, answer, outcomeUnknown },
    });
  // Without a status there was no answer: the network failed.
  const what = httpStatus === undefined ? `${code}, ${host}` : code;
  const tries = made === 1 ? '1 try' : `${made} tries`;
  switch (result.kind) {
    case 'fatal':
      return fail('fatal', `cannot succeed (${what}): check baseUrl, apiKey and accountId.`);
    case 'refused':
      return fail('refused', `was refused by the service (${what}): change its arguments. ${itsWords}`);
    case 'retryable':
      if (result.refusedWhenSpent)
        return fail(
          'refused',
          `did not succeed in ${tries} (${what}): set the meaning of this code in statusCodes. ${itsWords}`,
        );
      if (result.outcomeUnknown && startsWork)
        return fail(
          'retryable',
          `got no clear answer (${what}), and the service may have processed it, so it is not repeated. Check for its effect before you call again.`,
          true,
        );
      if (code === tooLargeCode)
        return fail(
          'invalid-answer',
          `got an answer that is larger than any should be (${what}): ask the service's operator.`,
        );
      return fail('retryable', `failed in ${tries} (${what}): try again later.`);
  }
}
