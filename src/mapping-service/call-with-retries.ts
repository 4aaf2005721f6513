import { createAbortWatch } from '../async/abort.js';
import { decideRetry, type RetryPolicy } from '../async/retry.js';
import { InvalidField, readEnvelope, readJson } from './answers.js';
import type { ServiceClient, ServiceRequest } from './client.js';
import { failedCall, invalidAnswer } from './errors.js';
import type { CallOptions, Envelope } from './operations.js';
import type { StatusCodeTable, Verdict } from './verdict.js';

export interface OperationCall<Answer> extends ServiceRequest {
  /** For messages: `getMappings`. */
  readonly operation: string;
  /** Whether the call may be made twice; if not, it is repeated only where the service cannot have processed it. */
  readonly isRepeatable: boolean;
  /** Creates the answer of a success. @throws InvalidField */
  readonly read: (envelope: Envelope, date: string | undefined) => Answer;
}

/** Makes one call, with its retries. @throws MappingServiceError; the signal's reason when aborted */
export type CallWithRetries = <Answer>(
  call: OperationCall<Answer>,
  options: CallOptions | undefined,
) => Promise<Answer>;

export interface CallWithRetriesParts {
  readonly client: Pick<ServiceClient, 'call'>;
  readonly statusCodes: StatusCodeTable;
  readonly policy: RetryPolicy;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Once it aborts nothing is repeated, and waits end. */
  readonly closed: AbortSignal;
}

export type FailedVerdict = Exclude<Verdict, { readonly kind: 'accepted' }>;

type Try<Answer> =
  | { readonly kind: 'succeeded'; readonly value: Answer }
  | { readonly kind: 'failed'; readonly verdict: FailedVerdict };

/** The signal of calls that their caller cannot abort. */
const neverAborted = new AbortController().signal;

export function createCallWithRetries({
  client,
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
    const { verdict, answer } = await client.call(call, { signal });
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
    let spent = { tries: 0, waits: 0 };
    for (let made = 1; ; made += 1) {
      const last = await tryOnce(call, signal);
      if (last.kind === 'succeeded') return last.value;
      const { verdict } = last;
      if (!mayRepeat(verdict, call.isRepeatable)) throw failedCall(verdict, call, made);
      const decision = decideRetry({ ...spent, retryAfterMs: verdict.retryAfterMs }, policy, random);
      if (decision.kind === 'spent') throw failedCall(verdict, call, made);
      if (!signal.aborted && !closed.aborted) await wait(decision.delayMs, signal);
      signal.throwIfAborted();
      if (closed.aborted) throw failedCall(verdict, call, made);
      spent = decision.spendsTry
        ? { ...spent, tries: spent.tries + 1 }
        : { ...spent, waits: spent.waits + 1 };
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
  return verdict.kind === 'retryable' && (isRepeatable || !verdict.outcomeUnknown);
}
