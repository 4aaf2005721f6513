import { createAbortWatch } from '../base/abort.js';
import { createRetryDelays, type RetryPolicy } from '../base/retry.js';
import { InvalidField, readEnvelope, readJson } from './answers.js';
import type { ServiceClient, ServiceRequest } from './client.js';
import { MappingServiceError } from './errors.js';
import type { CallOptions, Envelope } from './operations.js';
import { type StatusCodeTable, tooLargeCode, type Verdict } from './verdict.js';

interface OperationCall<Answer> extends Omit<ServiceRequest, 'startsWork'> {
  /** For messages: `getMappings`. */
  readonly operation: string;
  /** Whether the call may be made twice; if not, it is repeated only where the service cannot have processed it. */
  readonly isRepeatable: boolean;
  /** Reads the answer of a successful call. @throws InvalidField */
  readonly read: (envelope: Envelope, date: string | undefined) => Answer;
}

/** Makes one call, with its retries. @throws MappingServiceError; the signal's reason when aborted */
type CallWithRetries = <Answer>(
  call: OperationCall<Answer>,
  options: CallOptions | undefined,
) => Promise<Answer>;

interface CallWithRetriesParts {
  readonly client: ServiceClient;
  /** Its host and port, for messages. */
  readonly host: string;
  readonly statusCodes: StatusCodeTable;
  readonly policy: RetryPolicy;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Once it aborts, nothing is retried and waits end. */
  readonly closed: AbortSignal;
}

type FailedVerdict = Exclude<Verdict, { readonly kind: 'accepted' }>;

type Try<Answer> =
  | { readonly kind: 'succeeded'; readonly value: Answer }
  | { readonly kind: 'failed'; readonly verdict: FailedVerdict };

/** The signal of calls that their caller cannot abort. */
const neverAborted = new AbortController().signal;

export function createCallWithRetries({
  client,
  host,
  statusCodes,
  policy,
  random,
  closed,
}: CallWithRetriesParts): CallWithRetries {
  const aborts = createAbortWatch();

  const wait = (milliseconds: number, signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        for (const unwatch of watches) unwatch();
        resolve();
      };
      const timer = setTimeout(end, milliseconds);
      const watches = [aborts.watch(signal, end), aborts.watch(closed, end)];
    });

  const tryOnce = async <Answer>(call: OperationCall<Answer>, signal: AbortSignal): Promise<Try<Answer>> => {
    const { verdict, answer } = await client.call({ ...call, startsWork: !call.isRepeatable }, { signal });
    try {
      const json = answer && readJson(answer);
      if (verdict.kind === 'accepted') {
        return { kind: 'succeeded', value: call.read(readEnvelope(json), answer?.date) };
      }
      // JSON without an envelope is an error at once, because another try would not change it.
      if (json !== undefined && !isRefusal(verdict, statusCodes)) readEnvelope(json);
      return { kind: 'failed', verdict };
    } catch (error) {
      throw error instanceof InvalidField ? invalidAnswer(call.operation, error, verdict) : error;
    }
  };

  return async (call, { signal = neverAborted } = {}) => {
    const nextDelayMs = createRetryDelays(policy, random);
    for (let made = 1; ; made += 1) {
      const last = await tryOnce(call, signal);
      if (last.kind === 'succeeded') return last.value;
      const { verdict } = last;
      if (!mayRepeat(verdict, call.isRepeatable)) throw failedCall(verdict, { ...call, host }, made);
      const delayMs = nextDelayMs(verdict.retryAfterMs);
      if (delayMs === undefined) throw failedCall(verdict, { ...call, host }, made);
      if (!signal.aborted && !closed.aborted) await wait(delayMs, signal);
      signal.throwIfAborted();
      if (closed.aborted) throw failedCall(verdict, { ...call, host }, made);
    }
  };
}

/** A refusal need not have the form of a success. */
function isRefusal({ statusCode }: Verdict, statusCodes: StatusCodeTable): boolean {
  return statusCode !== undefined && statusCodes[statusCode] !== 'accepted';
}

function mayRepeat(
  verdict: FailedVerdict,
  isRepeatable: boolean,
): verdict is Extract<Verdict, { readonly kind: 'retryable' }> {
  // The same answer would be as large again.
  if (verdict.code === tooLargeCode) return false;
  return verdict.kind === 'retryable' && (isRepeatable || !verdict.outcomeUnknown);
}

const itsWords = "The service's own words, if any, are in the error's answer.";

/**
 * The error for a call that failed.
 *
 * @param made how many times the call was made
 */
function failedCall(
  verdict: FailedVerdict,
  {
    operation,
    isRepeatable,
    host,
  }: Pick<OperationCall<unknown>, 'operation' | 'isRepeatable'> & { readonly host: string },
  made: number,
): MappingServiceError {
  const { code, httpStatus, statusCode, answer } = verdict;
  const details = {
    code,
    operation,
    ...(httpStatus !== undefined && { httpStatus }),
    ...(statusCode !== undefined && { statusCode }),
    ...(answer !== undefined && { answer }),
  };
  // Without a status there was no answer: the network failed.
  const what = httpStatus === undefined ? `${code}, ${host}` : code;
  const tries = made === 1 ? '1 try' : `${made} tries`;
  switch (verdict.kind) {
    case 'fatal':
      return new MappingServiceError(
        `${operation} cannot succeed (${what}): check ${operation === 'call' ? 'path, ' : ''}baseUrl, apiKey and accountId.`,
        { ...details, kind: 'fatal' },
      );
    case 'refused':
      return new MappingServiceError(
        `${operation} was refused by the service (${what}): change its arguments. ${itsWords}`,
        { ...details, kind: 'refused' },
      );
    case 'retryable':
      if (verdict.refusedWhenSpent) {
        return new MappingServiceError(
          `${operation} did not succeed in ${tries} (${what}): set the meaning of this code in statusCodes. ${itsWords}`,
          { ...details, kind: 'refused' },
        );
      }
      if (verdict.outcomeUnknown && !isRepeatable) {
        return new MappingServiceError(
          `${operation} got no clear answer (${what}), and the service may have processed it, so it is not repeated. Check for its effect before you call again.`,
          { ...details, kind: 'retryable', outcomeUnknown: true },
        );
      }
      if (code === tooLargeCode) {
        return new MappingServiceError(
          `${operation} got an answer that is larger than any should be (${what}): ask the service's operator.`,
          { ...details, kind: 'invalid-answer' },
        );
      }
      return new MappingServiceError(`${operation} failed in ${tries} (${what}): try again later.`, {
        ...details,
        kind: 'retryable',
      });
  }
}

/** The error for an answer that does not follow the specification. */
export function invalidAnswer(
  operation: string,
  { field, message }: Pick<InvalidField, 'field' | 'message'>,
  { httpStatus, statusCode }: Pick<Verdict, 'httpStatus' | 'statusCode'> = {},
): MappingServiceError {
  return new MappingServiceError(
    `${operation} got an answer that does not follow the specification: ${message}. Ask the service's operator.`,
    {
      kind: 'invalid-answer',
      code: 'invalid-answer',
      operation,
      field,
      ...(httpStatus !== undefined && { httpStatus }),
      ...(statusCode !== undefined && { statusCode }),
    },
  );
}
