import type { Session } from './session.js';

const rememberedMs = 31 * 24 * 60 * 60 * 1_000;

export async function findHookRun(session: Session, requestId: string): Promise<string | undefined> {
  const row = await session.row('SELECT run_id FROM hotel_review.hook_requests WHERE id = $1', requestId);
  return row && String(row.run_id);
}

/** Forgets, in passing, what is too old to come again. Done inside a transaction. */
export async function rememberHookRun(
  session: Session,
  { id, runId, at }: { readonly id: string; readonly runId: string; readonly at: number },
): Promise<void> {
  await session.run('DELETE FROM hotel_review.hook_requests WHERE at < $1', at - rememberedMs);
  await session.run(
    'INSERT INTO hotel_review.hook_requests (id, run_id, at) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING',
    id,
    runId,
    at,
  );
}
