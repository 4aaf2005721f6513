import { SafeError } from '../text/safe-error.js';
import type { InvalidField } from './answers.js';
import type { FailedVerdict, OperationCall } from './call-with-retries.js';
import type { Verdict } from './verdict.js';

/** What the caller must do about it: the classes of design 6. */
export type ServiceErrorKind = 'retryable' | 'fatal' | 'refused' | 'invalid-answer';

export interface ServiceErrorDetails {
  readonly kind: ServiceErrorKind;
  /** Short and safe to show: `http-503`, `code-2027`, `timeout`, `invalid-answer`. */
  readonly code: string;
  /** The operation that was called: `getMappings`. */
  readonly operation: string;
  readonly httpStatus?: number;
  /** The envelope's StatusCode, if there was one. (Spec 2.1.) */
  readonly statusCode?: number;
  /** Of an invalid answer: the first field that is missing or of another type, such as `Mappings[3].ServiceId`. */
  readonly field?: string;
  /** The service's own words. They may name a guest, so no message quotes them. */
  readonly answer?: string;
}

/** A call failed. The message is safe to show: no text of the service, no credentials. */
export class MappingServiceError extends SafeError implements ServiceErrorDetails {
  override readonly name = 'MappingServiceError';
  readonly kind: ServiceErrorKind;
  readonly code: string;
  readonly operation: string;
  declare readonly httpStatus?: number;
  declare readonly statusCode?: number;
  declare readonly field?: string;
  declare readonly answer?: string;

  constructor(
    message: string,
    { kind, code, operation, ...known }: ServiceErrorDetails,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.kind = kind;
    this.code = code;
    this.operation = operation;
    Object.assign(this, known);
    // Logging an error with all its fields must not log a guest's name.
    if (known.answer !== undefined)
      Object.defineProperty(this, 'answer', { value: known.answer, enumerable: false });
  }
}

const itsWords = "The service's own words, if any, are in the error's answer.";

/**
 * The error for a call that failed.
 *
 * @param made how many times the call was made
 */
export function failedCall(
  verdict: FailedVerdict,
  { operation, isRepeatable }: Pick<OperationCall<unknown>, 'operation' | 'isRepeatable'>,
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
        `${operation} was refused by the service (${code}): change its arguments. ${itsWords}`,
        { ...details, kind: 'refused' },
      );
    case 'retryable':
      if (verdict.refusedWhenSpent) {
        return new MappingServiceError(
          `${operation} did not succeed in ${tries} (${code}): set the meaning of this code in statusCodes. ${itsWords}`,
          { ...details, kind: 'refused' },
        );
      }
      if (verdict.outcomeUnknown && !isRepeatable) {
        return new MappingServiceError(
          `${operation} got no clear answer (${code}), and the service may have processed it, so it is not repeated. Check for its effect before you call again.`,
          { ...details, kind: 'retryable' },
        );
      }
      return new MappingServiceError(`${operation} failed in ${tries} (${code}): try again later.`, {
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
