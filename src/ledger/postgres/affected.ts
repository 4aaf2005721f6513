import type { AffectedLines, AffectedPlaces } from '../../review/history.js';
import { packPlaces, unpackPlaces } from '../packed-places.js';
import { readLines } from './batches.js';
import { runNumber } from './runs.js';
import type { Session } from './session.js';

/** Done inside a transaction. */
export async function replaceAffected(
  session: Session,
  run: number,
  affected: readonly AffectedPlaces[],
): Promise<void> {
  await session.run('DELETE FROM hotel_review.affected WHERE run = $1', run);
  await session.copy(
    'hotel_review.affected (run, batch, places)',
    affected.map(({ batch, places }) => [{ bigint: run }, { integer: batch }, { bytes: packPlaces(places) }]),
  );
  const count = affected.reduce((sum, { places }) => sum + places.length, 0);
  await session.run('UPDATE hotel_review.runs SET affected = $1 WHERE number = $2', count, run);
}

export async function nextAffected(
  session: Session,
  runId: string,
  after: number,
): Promise<AffectedLines | undefined> {
  const run = await runNumber(session, runId);
  const row = await session.row(
    'SELECT batch, places FROM hotel_review.affected WHERE run = $1 AND batch > $2 ORDER BY batch LIMIT 1',
    run,
    after,
  );
  if (!row) return undefined;
  const batch = Number(row.batch);
  const lines = await readLines(session, run, 'file', batch);
  return { batch, lines: unpackPlaces(row.places as Buffer).map((place) => lines[place] ?? '') };
}
