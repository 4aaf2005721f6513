import { runColumns, toRun } from '../run.js';
import { placeOfAnswer, type Sealing } from '../sealing.js';
import type { Claimed, Recorded, StepEnding } from '../step.js';
import type { Session } from './session.js';

/**
 * Records in one statement how nearly every step of a large day ends: as an accepted batch that no step waits for.
 * All workers of a run write to its row in turn; this way it is locked only for the commit, not during network round
 * trips. A test shows that this does what `recordEnding` decides for such an ending.
 *
 * Undefined, with nothing changed, for any other ending or an outdated claim: `record` handles those.
 */
export async function recordAcceptedBatch(
  session: Session,
  { sealText }: Sealing,
  { step, attempt, token, claimedAt, run: { day } }: Claimed,
  { kind, evidence, file, verdicts, nothingSent }: StepEnding,
  at: number,
): Promise<Recorded | undefined> {
  if (kind !== 'done' || step.kind !== 'batch' || file || verdicts || nothingSent) return undefined;
  const row = await session.preparedRow(
    'record accepted batch',
    `WITH run AS MATERIALIZED (
       SELECT number FROM hotel_review.runs
       WHERE id = $1 AND token = $2 AND delivery = 'body'
         AND NOT EXISTS (SELECT 1 FROM hotel_review.steps WHERE run = number AND after = $3)
       FOR NO KEY UPDATE
     ), ended AS (
       UPDATE hotel_review.steps SET state = 'done', ended_at = $5, last_code = $6, outcome_unknown = 0
       FROM run WHERE steps.run = run.number AND name = $3 AND state = 'running' AND attempts = $4 AND token = $2
       RETURNING steps.run, bookings
     ), kept AS (
       INSERT INTO hotel_review.attempts
         (run, step, attempt, started_at, ended_at, outcome, code, http_status, status_code, answer, sha256)
       SELECT run, $3, $4, $7, $5, 'done', $6, $8, $9, $10, $11 FROM ended
     )
     UPDATE hotel_review.runs SET
       delivered = delivered + ended.bookings, open_steps = open_steps - 1, failures_in_row = 0
     FROM ended WHERE number = ended.run
     RETURNING ${runColumns}`,
    step.runId,
    token,
    step.name,
    attempt,
    at,
    evidence.code,
    claimedAt,
    evidence.httpStatus ?? null,
    evidence.statusCode ?? null,
    sealText(day, evidence.answer, placeOfAnswer(step.runId, step.name, attempt)),
    evidence.sha256 ?? null,
  );
  return row && { run: toRun(row), opened: [], settled: false };
}
