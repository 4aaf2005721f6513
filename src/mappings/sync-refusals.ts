import { MappingServiceError } from '../service/errors.js';
import { tooLargeCode } from '../service/verdict.js';

/** The StatusCode for a limit that the account doesn't allow. (Design 6.) */
const invalidLimit = 2012;
/** The StatusCodes for an unknown and an expired key. (Design 6.) */
const resumeKeyCodes: readonly number[] = [2006, 2027];
/** HTTP statuses by which the service may say that a key is gone. */
const goneStatuses: readonly unknown[] = [404, 410];

/** Whether a page of fewer mappings may succeed. */
export function needsShorterPage(error: unknown): error is MappingServiceError {
  if (!(error instanceof MappingServiceError)) return false;
  return error.statusCode === invalidLimit || error.code === tooLargeCode;
}

/** Says what was refused. */
export function explainLimit(error: MappingServiceError, limit: number): MappingServiceError {
  const { kind, code, operation, httpStatus, statusCode, answer } = error;
  return new MappingServiceError(
    code === tooLargeCode
      ? `getMappings asked for ${limit} mappings and got an answer that is larger than so many can be (${code}); ask the operator of the service.`
      : `getMappings was refused by the service (${code}, invalid limit): the account does not even allow ${limit} mappings per page; ask the operator of the service.`,
    {
      ...{ kind, code, operation },
      ...(httpStatus !== undefined && { httpStatus }),
      ...(statusCode !== undefined && { statusCode }),
      ...(answer !== undefined && { answer }),
    },
    { cause: error },
  );
}

/** Whether the service refused a call because of its resume key. */
export function refusesKey(error: unknown): error is MappingServiceError {
  if (!(error instanceof MappingServiceError)) return false;
  const { kind, statusCode, httpStatus } = error;
  if (statusCode !== undefined && resumeKeyCodes.includes(statusCode)) return true;
  if (statusCode === invalidLimit) return false;
  return kind === 'refused' || goneStatuses.includes(httpStatus);
}
