import { codeOf } from '../../base/safe-error.js';

/** The sandbox can't run like this: something has to be fixed first, and the message says what. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError';
}

/** An error's code, such as ENOSPC, or its class: its own message may quote text that names guests. */
export function nameReason(error: unknown): string {
  return codeOf(error) ?? (error instanceof Error ? error.name : 'unknown');
}

/** The service refuses a call, inside a success unless the HTTP status says otherwise. The message names no guest and quotes no secret. */
export class Refusal extends Error {
  override readonly name = 'Refusal';

  constructor(
    readonly statusCode: number,
    message: string,
    readonly httpStatus = 200,
  ) {
    super(message);
  }
}
