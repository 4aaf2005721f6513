import { SafeError } from '../base/safe-error.js';
import type { InvalidField } from './answers.js';
import type { Verdict } from './verdict.js';

/** What the caller must do about it: the classes of design 6. */
export type ServiceErrorKind = 'retryable' | 'fatal' | 'refused' | 'invalid-answer';

interface ServiceErrorDetails {
  readonly kind: ServiceErrorKind;
  /** Short and safe to show: `http-503`, `code-2027`, `timeout`, `invalid-answer`. */
  readonly code: string;
  /** The operation that was called: `getMappings`. */
  readonly operation: string;
  readonly httpStatus?: number;
  /** The envelope's StatusCode, if there was one. (Spec 2.1.) */
  readonly statusCode?: number;
  /** True when the service may have processed a call that is not repeated: check for its effect. */
  readonly outcomeUnknown?: boolean;
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
  declare readonly outcomeUnknown?: boolean;
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
