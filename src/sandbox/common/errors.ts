/** The sandbox can't be run like this: a person has to mend something first. The message says what. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError';
}

/** Names an error by its code, such as ENOSPC, or its class: its own words may quote what names guests. */
export function nameReason(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
