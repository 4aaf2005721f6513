import { SafeError } from '../base/safe-error.js';
import type { InvalidField } from './answers.js';
import type { CallResult } from './call-result.js';

/** What the caller must do about it. */
export type ServiceErrorKind = 'retryable' | 'fatal' | 'refused' | 'invalid-answer';

interface ServiceErrorDetails {
  readonly kind: ServiceErrorKind;
  /** Short and safe to show: `http-503`, `code-2027`, `timeout`, `invalid-answer`. */
  readonly code: string;
  /** The operation that was called: `getMappings`. */
  readonly operation: string;
  readonly httpStatus?: number | undefined;
  /** The envelope's StatusCode, if there was one. (Spec 2.1.) */
  readonly statusCode?: number | undefined;
  /** True when the service may have processed a call that is not repeated: check for its effect. */
  readonly outcomeUnknown?: boolean | undefined;
  /** Of an invalid answer: the first field that is missing or of another type, such as `Mappings[3].ServiceId`. */
  readonly field?: string | undefined;
  /** The service's own words. They may name a guest, so no message quotes them. */
  readonly answer?: string | undefined;
}

/** A call failed. The message is safe to show: no text of the service, no credentials. */
export class MappingServiceError extends SafeError implements ServiceErrorDetails {
  override readonly name = 'MappingServiceError';
  readonly kind: ServiceErrorKind;
  readonly code: string;
  readonly operation: string;
  declare readonly httpStatus?: number | undefined;
  declare readonly statusCode?: number | undefined;
  declare readonly outcomeUnknown?: boolean | undefined;
  declare readonly field?: string | undefined;
  declare readonly answer?: string | undefined;

  constructor(
    message: string,
    { kind, code, operation, answer, ...known }: ServiceErrorDetails,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.kind = kind;
    this.code = code;
    this.operation = operation;
    for (const [name, value] of Object.entries(known))
      if (value !== undefined) Object.defineProperty(this, name, { value, enumerable: true });
    // Logging an error with all its fields must not log a guest's name.
    if (answer !== undefined) Object.defineProperty(this, 'answer', { value: answer, enumerable: false });
  }
}

/** The error for an answer that does not follow the specification. */
export function invalidAnswer(
  operation: string,
  { field, message }: InvalidField,
  result?: CallResult,
): MappingServiceError {
  const { httpStatus, statusCode } = result ?? {};
  return new MappingServiceError(
    `${operation} got an answer that does not follow the specification: ${message}. Ask the service's operator.`,
    { kind: 'invalid-answer', code: 'invalid-answer', operation, field, httpStatus, statusCode },
  );
}
