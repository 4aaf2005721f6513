/** What a pooler says when it is busy, or its server is away. */
const busyPooler = /timeout|cannot connect|no more connections|shutting down|login failed|closed|paused/i;
/** Names of parameters contain words such as "timeout". */
const refusedParameter = /parameter/i;

/**
 * Whether an error of PostgreSQL comes from a pooler between us and the server: it refuses start-up parameters, or lost or
 * doubled a prepared statement, because transactions share its sessions.
 *
 * @param code SQLSTATE
 */
export function needsOwnSession(code: string, message: string): boolean {
  if (['42P05', '26000'].includes(code)) return true;
  return code === '08P01' && (refusedParameter.test(message) || !busyPooler.test(message));
}
