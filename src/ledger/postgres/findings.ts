import type { CollectedBatch, Suspect } from '../../review/collected.js';
import type { AffectedLines, AffectedPlaces, BatchCursor, SuspectLines } from '../../review/history.js';
import type { BookingForm } from '../../review/step.js';
import { packPlaces, toSuspect, unpackPlaces } from '../stored-findings.js';
import { readLines } from './batches.js';
import { runNumber } from './runs.js';
import type { Session } from './session.js';

/** Call it inside a transaction. */
export async function storeSuspects(
  session: Session,
  run: number,
  batches: readonly CollectedBatch[],
): Promise<void> {
  const rows = batches.flatMap(({ form, number, suspects = [] }) =>
    suspects.map(({ place, reason, serviceId, movedAt }) => [
      { bigint: run },
      { text: form },
      { integer: number },
      { integer: place },
      { text: reason },
      { bigint: serviceId ?? null },
      { bigint: movedAt ?? null },
    ]),
  );
  if (rows.length === 0) return;
  await session.copy('hotel_review.suspects (run, form, batch, place, reason, service_id, moved_at)', rows);
}

/** Call it in one snapshot. */
export async function nextSuspects(
  session: Session,
  runId: string,
  after: BatchCursor | undefined,
): Promise<SuspectLines | undefined> {
  const run = await runNumber(session, runId);
  const rows = await session.rows(
    `SELECT * FROM hotel_review.suspects WHERE run = $1 AND (form, batch) = (
       SELECT form, batch FROM hotel_review.suspects WHERE run = $1 AND (form, batch) > ($2, $3)
       ORDER BY form, batch LIMIT 1
     ) ORDER BY place`,
    run,
    after?.form ?? '',
    after?.batch ?? -1,
  );
  const [first] = rows;
  if (!first) return undefined;
  const form = String(first.form) as BookingForm;
  const batch = Number(first.batch);
  const lines = await readLines(session, run, form, batch);
  return {
    cursor: { form, batch },
    form,
    suspects: rows.map(toSuspect).map((suspect) => ({ ...suspect, line: lines[suspect.place] ?? '' })),
  };
}

export async function findSuspect(
  session: Session,
  run: number,
  form: BookingForm,
  batch: number,
  place: number,
): Promise<Suspect | undefined> {
  const row = await session.row(
    'SELECT * FROM hotel_review.suspects WHERE run = $1 AND form = $2 AND batch = $3 AND place = $4',
    run,
    form,
    batch,
    place,
  );
  return row && toSuspect(row);
}

/** Call it inside a transaction. */
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
