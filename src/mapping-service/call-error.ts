import type { InvalidField } from './answer-fields.js';
import type { Verdict } from './mapping-service.js';
import type { FailedVerdict } from './retrying.js';
import { MappingServiceError } from './service-error.js';

/** What was called, for messages. */
export interface CalledOperation {
  /** `getMappings` */
  readonly operation: string;
  /** Whether it may be made twice. */
  readonly isRepeatable: boolean;
}

const itsWords = "The service's own words, if it said any, are in the error's answer.";

/**
 * The error for a call that came to nothing.
 *
 * @param made how many times the call was made
 */
export function failedCall(
  verdict: FailedVerdict,
  { operation, isRepeatable }: CalledOperation,
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
  const tries = made === 1 ? '1 try' : `${made} tries`;
  switch (verdict.kind) {
    case 'fatal':
      return new MappingServiceError(
        `${operation} cannot succeed (${code}): check ${operation === 'call' ? 'path, ' : ''}baseUrl, apiKey and accountId.`,
        { ...details, kind: 'fatal' },
      );
    case 'refused':
      return new MappingServiceError(
        `${operation} was refused by the service (${code}): change what it is called with. ${itsWords}`,
        { ...details, kind: 'refused' },
      );
    case 'retryable':
      if (verdict.refusedWhenSpent) {
        return new MappingServiceError(
          `${operation} was answered with what is no success (${code}) in ${tries}: say by statusCodes what the code means. ${itsWords}`,
          { ...details, kind: 'refused' },
        );
      }
      if (verdict.outcomeUnknown && !isRepeatable) {
        return new MappingServiceError(
          `${operation} got no clear answer (${code}), and the service may have taken it: it is not repeated. Look for what it does before you call again.`,
          { ...details, kind: 'retryable' },
        );
      }
      return new MappingServiceError(`${operation} failed in ${tries} (${code}): try again later.`, {
        ...details,
        kind: 'retryable',
      });
  }
}

/** The error for an answer that is not as the specification has it. */
export function invalidAnswer(
  operation: string,
  { field, message }: Pick<InvalidField, 'field' | 'message'>,
  { httpStatus, statusCode }: Pick<Verdict, 'httpStatus' | 'statusCode'> = {},
): MappingServiceError {
  return new MappingServiceError(
    `${operation} got an answer that is not as specified: ${message}. Ask whoever runs the service.`,
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
