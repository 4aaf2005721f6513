import type { Database } from './database.js';

/** Far longer than the tolerance for a request's age: an older one is refused by its timestamp. */
const rememberedMs = 31 * 86_400_000;

export function findHookRun(database: Database, id: string): string | undefined {
  const row = database.get('SELECT run FROM hook_requests WHERE id = ?', id);
  return row && String(row.run);
}

export function rememberHookRun(
  database: Database,
  { id, runId, at }: { readonly id: string; readonly runId: string; readonly at: number },
): void {
  database.run('DELETE FROM hook_requests WHERE answered_at < ?', at - rememberedMs);
  database.run(
    'INSERT INTO hook_requests (id, run, answered_at) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING',
    id,
    runId,
    at,
  );
}
