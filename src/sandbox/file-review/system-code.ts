/** The system's code for what went wrong (`ENOSPC`), without its message, which may hold what was being written. */
export function readSystemCode(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return error instanceof Error ? error.name : 'unknown';
}
