import type { Attempt } from '../../review/ledger.js';
import type { Claim, StepEnding } from '../../review/step.js';
import { toAttempt } from '../stored-step.js';
import type { Session } from './session.js';

export async function keepEvidence(
  session: Session,
  {
    run,
    claim: { step, attempt, claimedAt },
    ending: { kind, evidence },
    at,
  }: { readonly run: number; readonly claim: Claim; readonly ending: StepEnding; readonly at: number },
): Promise<void> {
  await session.run(
    `INSERT INTO hotel_review.attempts
       (run, step, attempt, started_at, ended_at, outcome, code, http_status, status_code, answer, sha256)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    run,
    step.name,
    attempt,
    claimedAt,
    at,
    kind,
    evidence.code,
    evidence.httpStatus ?? null,
    evidence.statusCode ?? null,
    evidence.answer ?? null,
    evidence.sha256 ?? null,
  );
}

/**
 * Finds what this very attempt has recorded already: its commit came through, its answer did not. What somebody else
 * wrote of a lost owner's attempt is no such thing.
 */
export async function findRecorded(
  session: Session,
  { step, attempt, claimedAt }: Claim,
  { kind, evidence }: StepEnding,
): Promise<{ readonly run: number; readonly position: number } | undefined> {
  const row = await session.row(
    `SELECT steps.run, position FROM hotel_review.attempts
     JOIN hotel_review.runs ON attempts.run = number
     JOIN hotel_review.steps ON steps.run = number AND name = step
     WHERE id = $1 AND step = $2 AND attempt = $3 AND attempts.started_at = $4 AND outcome = $5 AND code = $6
       AND code <> 'owner-lost'`,
    step.runId,
    step.name,
    attempt,
    claimedAt,
    kind,
    evidence.code,
  );
  return row && { run: Number(row.run), position: Number(row.position) };
}

export async function attemptsOf(session: Session, run: number, step: string): Promise<Attempt[]> {
  const rows = await session.rows(
    'SELECT * FROM hotel_review.attempts WHERE run = $1 AND step = $2 ORDER BY attempt',
    run,
    step,
  );
  return rows.map(toAttempt);
}
