import type { HttpAnswer } from '../http/transport.js';
import { checkOptionalText, InvalidField, isObject, readBoolean, readInteger } from './answer-fields.js';
import { type CalledOperation, failedCall, invalidAnswer } from './call-error.js';
import { parseJson } from './envelope.js';
import type { Verdict } from './mapping-service.js';
import type { CallOptions, Envelope } from './operations.js';
import type { Retrying, Try } from './retrying.js';
import type { ServiceCalls } from './service-calls.js';
import type { StatusCodeTable } from './verdict.js';

export interface OperationCall<Answer> extends CalledOperation {
  readonly method: 'GET' | 'POST';
  /** Below the base address, with the query. */
  readonly path: string;
  /** Beside those of every call; names and values in turn. */
  readonly headers?: readonly string[];
  /** JSON in UTF-8. */
  readonly body?: Uint8Array;
  /** Makes the answer of a success. @throws InvalidField */
  readonly read: (envelope: Envelope, date: string | undefined) => Answer;
}

/** Makes one call with its retries. @throws MappingServiceError; the signal's reason when aborted */
export type Calling = <Answer>(
  call: OperationCall<Answer>,
  options: CallOptions | undefined,
) => Promise<Answer>;

/** What a call listens to whose caller cannot stop it. */
const neverStopped = new AbortController().signal;

export function createCalling({
  calls: { root, headers, headersOfBody, transport, judge },
  retrying,
  statusCodes,
}: {
  readonly calls: ServiceCalls;
  readonly retrying: Retrying;
  readonly statusCodes: StatusCodeTable;
}): Calling {
  return async ({ read, ...call }, { signal = neverStopped } = {}) => {
    const { operation, method, body, isRepeatable } = call;
    const request = {
      method,
      path: `${root}${call.path}`,
      headers: [...(body === undefined ? headers : headersOfBody), ...(call.headers ?? [])],
      ...(body !== undefined && { body }),
      signal,
    };
    const makeTry = async (): Promise<Try<ReturnType<typeof read>>> => {
      const exchange = await transport.call(request);
      const verdict = judge(exchange);
      const answer = exchange.kind === 'answered' ? exchange.answer : exchange.brokenAnswer;
      try {
        if (verdict.kind === 'accepted') {
          return { kind: 'succeeded', value: read(checkEnvelope(readJson(answer)), answer?.date) };
        }
        if (!saysNo(verdict, statusCodes)) checkIfJson(readJson(answer));
        return { kind: 'failed', verdict };
      } catch (error) {
        throw error instanceof InvalidField ? invalidAnswer(operation, error, verdict) : error;
      }
    };

    const { last, made } = await retrying.repeat(makeTry, { isRepeatable, signal });
    switch (last.kind) {
      case 'succeeded':
        return last.value;
      case 'failed':
        throw failedCall(last.verdict, call, made);
    }
  };
}

/** What a 200 holds; undefined for any other answer, and for what is no JSON or not whole. */
function readJson(answer: HttpAnswer | undefined): unknown {
  return answer?.status === 200 && !answer.bodyTruncated ? parseJson(answer.body) : undefined;
}

/** Who says no need not say it in the form of a success. */
function saysNo({ statusCode }: Verdict, statusCodes: StatusCodeTable): boolean {
  return statusCode !== undefined && statusCodes[statusCode] !== 'accepted';
}

/** @throws InvalidField for JSON that is no envelope: calling again would not mend it */
function checkIfJson(json: unknown): void {
  if (json !== undefined) checkEnvelope(json);
}

/** Reads the envelope of a success (spec 2.1), whatever else the answer holds. @throws InvalidField */
function checkEnvelope(json: unknown): Envelope {
  const fields = isObject(json) ? json : {};
  checkOptionalText(fields, 'Message');
  return {
    ...fields,
    Status: readBoolean(fields, 'Status'),
    StatusCode: readInteger(fields, 'StatusCode'),
  };
}
