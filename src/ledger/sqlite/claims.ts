import {
  FencedError,
  type OpenStep,
  type Recorded,
  type Right,
  type SharedRight,
} from '../../review/ledger.js';
import type { ReviewFile } from '../../review/review-file.js';
import type { Claim, Claimed, Evidence, Step, StepEnding } from '../../review/step.js';
import { toRun } from '../stored-run.js';
import { toOpenStep, toStep } from '../stored-step.js';
import { findBatch } from './collecting.js';
import type { Database, Row } from './database.js';
import { awaitResultWhenDelivered, readRun } from './runs.js';
import { insertSteps } from './steps.js';

/** Left to itself, SQLite looks for the steps behind a step among all of the run's. */
const stepsByPredecessor = 'steps INDEXED BY steps_by_predecessor';

export function claim(
  database: Database,
  right: Right | SharedRight,
  name: string,
  attempt: number,
  at: number,
  leaseUntil: number,
): Claimed | undefined {
  const { runId } = right;
  const row = database.get(
    `SELECT * FROM runs WHERE id = ? AND token = coalesce(?, token) AND state IN ('delivering', 'awaiting-result')`,
    runId,
    right.token ?? null,
  );
  if (!row) return undefined;
  const number = Number(row.number);
  const token = Number(row.token);
  const before = database.get(
    `SELECT * FROM steps WHERE run = ? AND name = ? AND state = 'ready' AND attempts = ?`,
    number,
    name,
    attempt - 1,
  );
  if (!before) return undefined;
  const repeated = before.outcome_unknown === 1 ? Number(before.bookings) : 0;
  database.run(
    `UPDATE steps SET state = 'running', attempts = ?, token = ?, claimed_at = ?, lease_until = ?, not_before = NULL,
       outcome_unknown = 0, repeated = repeated + ?
     WHERE run = ? AND name = ?`,
    attempt,
    token,
    at,
    leaseUntil,
    repeated,
    number,
    name,
  );
  if (repeated > 0)
    database.run('UPDATE runs SET repeated = repeated + ? WHERE number = ?', repeated, number);
  const lines = findLines(database, number, before);
  return {
    step: toStep(runId, before),
    attempt,
    token,
    claimedAt: at,
    mayRepeat: before.outcome_unknown === 1,
    run: toRun({ ...row, repeated: Number(row.repeated) + repeated }),
    ...(lines && { lines }),
  };
}

function findLines(database: Database, run: number, { form, batch }: Row): Buffer | undefined {
  if (!form) return undefined;
  return findBatch(database, run, String(form), Number(batch));
}

export function record(database: Database, claim: Claim, ending: StepEnding, at: number): Recorded {
  const { step, attempt, claimedAt } = claim;
  const { run, position } = checkClaim(database, claim);
  const opened = endStep(database, run, position, claim, ending, at);
  if (claim.mayRepeat && ending.nothingSent) takeBackRepeated(database, run, step, ending);
  if (ending.file) addToFile(database, run, ending.file);
  keepEvidence(database, run, step.name, attempt, ending, claimedAt, at);
  awaitResultWhenDelivered(database, run);
  return { run: readRun(database, run), opened };
}

/** @throws FencedError when the step is not performed under this claim any more. */
export function checkClaim(
  database: Database,
  claim: Claim,
): { readonly run: number; readonly position: number } {
  const row = findClaimed(database, claim);
  if (!row) throw new FencedError(claim.step.runId);
  return { run: Number(row.number), position: Number(row.position) };
}

export function findClaimed(database: Database, { step, attempt, token }: Claim): Row | undefined {
  return database.get(
    `SELECT runs.number, steps.position FROM runs JOIN steps ON steps.run = runs.number AND steps.name = ?
     WHERE runs.id = ? AND runs.token = ? AND steps.state = 'running' AND steps.attempts = ? AND steps.token = ?`,
    step.name,
    step.runId,
    token,
    attempt,
    token,
  );
}

function endStep(
  database: Database,
  run: number,
  position: number,
  { step }: Claim,
  ending: StepEnding,
  at: number,
): readonly OpenStep[] {
  const { name, bookings } = step;
  const end = (state: 'done' | 'refused' | 'failed' | 'halved' | 'overdue') =>
    database.run(
      'UPDATE steps SET state = ?, ended_at = ?, last_code = ? WHERE run = ? AND name = ?',
      state,
      at,
      ending.evidence.code,
      run,
      name,
    );
  const openAgain = (change: {
    spendsTry?: boolean;
    waits?: boolean;
    outcomeUnknown: boolean;
    notBefore: number | null;
  }) =>
    database.run(
      `UPDATE steps SET state = 'ready', tries = tries + ?, waits = waits + ?, outcome_unknown = ?, not_before = ?,
         last_code = ?
       WHERE run = ? AND name = ?`,
      change.spendsTry ? 1 : 0,
      change.waits ? 1 : 0,
      change.outcomeUnknown ? 1 : 0,
      change.notBefore,
      ending.evidence.code,
      run,
      name,
    );
  switch (ending.kind) {
    case 'done':
      end('done');
      database.run(
        `UPDATE runs SET delivered = delivered + ?, open_steps = open_steps - 1, failures_in_row = 0 WHERE number = ?`,
        bookings,
        run,
      );
      return openSuccessors(database, run, name);
    case 'refused':
      end('refused');
      database.run(
        `UPDATE runs SET refused = refused + ?, open_steps = open_steps - 1, failures_in_row = 0 WHERE number = ?`,
        bookings,
        run,
      );
      return [];
    case 'failed':
      end('failed');
      if (ending.outcomeUnknown)
        database.run('UPDATE steps SET outcome_unknown = 1 WHERE run = ? AND name = ?', run, name);
      database.run(
        `UPDATE runs SET open_steps = open_steps - ?, failed_steps = failed_steps + 1,
           failures_in_row = failures_in_row + 1
         WHERE number = ?`,
        1 + countSuccessors(database, run, name),
        run,
      );
      return [];
    case 'overdue':
      end('overdue');
      database.run(
        'UPDATE runs SET open_steps = open_steps - ? WHERE number = ?',
        1 + countSuccessors(database, run, name),
        run,
      );
      return [];
    case 'halved':
      end('halved');
      insertSteps(
        database,
        run,
        ending.halves.map((half) => ({ step: half, position })),
      );
      database.run('UPDATE runs SET open_steps = open_steps + 1, failures_in_row = 0 WHERE number = ?', run);
      return ending.halves.map((half) => ({ position, name: half.name, attempt: 1 }));
    case 'retry':
      openAgain({
        spendsTry: ending.spendsTry,
        waits: !ending.spendsTry,
        outcomeUnknown: ending.outcomeUnknown,
        notBefore: ending.notBefore,
      });
      return [{ position, name, attempt: step.attempts + 2, notBefore: ending.notBefore }];
    case 'fatal':
      openAgain({ outcomeUnknown: false, notBefore: null });
      database.run(
        `UPDATE runs SET state = 'failed', finished_at = ?, failure_class = 'fatal', failure_code = ?, failure_message = ?
         WHERE number = ? AND state IN ('delivering', 'awaiting-result')`,
        at,
        ending.evidence.code,
        ending.message,
        run,
      );
      return [];
    case 'interrupted':
      openAgain({ outcomeUnknown: true, notBefore: null });
      return [{ position, name, attempt: step.attempts + 2 }];
  }
}

/**
 * Claimed again after an unknown outcome, a step's bookings were counted as sent again. Where they were not, the count
 * is taken back, and the outcome is as unknown as it was, unless the step is done.
 */
function takeBackRepeated(
  database: Database,
  run: number,
  { name, bookings }: Step,
  { kind }: StepEnding,
): void {
  database.run(
    'UPDATE steps SET repeated = repeated - ?, outcome_unknown = ? WHERE run = ? AND name = ?',
    bookings,
    kind === 'done' ? 0 : 1,
    run,
    name,
  );
  database.run('UPDATE runs SET repeated = repeated - ? WHERE number = ?', bookings, run);
}

/** The steps that wait behind a step, near and far: while it is not done, they can't be worked on. */
function countSuccessors(database: Database, run: number, name: string): number {
  const row = database.get(
    `WITH RECURSIVE behind (name) AS (
       SELECT name FROM ${stepsByPredecessor} WHERE run = ? AND after = ?
       UNION ALL SELECT steps.name FROM ${stepsByPredecessor} JOIN behind ON steps.after = behind.name WHERE steps.run = ?
     ) SELECT count(*) AS count FROM behind`,
    run,
    name,
    run,
  );
  return Number(row?.count);
}

/** What a step found out of the run's file is added to what is known. */
function addToFile(database: Database, run: number, found: Partial<ReviewFile>): void {
  const row = database.get('SELECT file FROM runs WHERE number = ?', run);
  const known = row?.file ? (JSON.parse(String(row.file)) as Partial<ReviewFile>) : {};
  database.run('UPDATE runs SET file = ? WHERE number = ?', JSON.stringify({ ...known, ...found }), run);
}

function openSuccessors(database: Database, run: number, name: string): OpenStep[] {
  const rows = database.all(
    `SELECT position, name, attempts, not_before FROM ${stepsByPredecessor} WHERE run = ? AND after = ? AND state = 'waiting'`,
    run,
    name,
  );
  if (rows.length > 0) {
    database.run(
      `UPDATE ${stepsByPredecessor} SET state = 'ready' WHERE run = ? AND after = ? AND state = 'waiting'`,
      run,
      name,
    );
  }
  return rows.map(toOpenStep);
}

function keepEvidence(
  database: Database,
  run: number,
  step: string,
  attempt: number,
  { kind, evidence }: { kind: StepEnding['kind']; evidence: Evidence },
  startedAt: number,
  endedAt: number,
): void {
  database.run(
    `INSERT INTO attempts (run, step, attempt, started_at, ended_at, outcome, code, http_status, status_code, answer, sha256)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    run,
    step,
    attempt,
    startedAt,
    endedAt,
    kind,
    evidence.code,
    evidence.httpStatus ?? null,
    evidence.statusCode ?? null,
    evidence.answer ?? null,
    evidence.sha256 ?? null,
  );
}
