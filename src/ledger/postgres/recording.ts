import type { ReviewFile } from '../../review/file/review-file.js';
import type { Claim, StepEnding } from '../../review/step.js';
import type { OpenStep, Recorded } from '../ledger.js';
import type { StoredRow } from '../stored-row.js';
import { toOpenStep } from '../stored-step.js';
import { lockClaim } from './claims.js';
import { findRecorded, keepEvidence } from './evidence.js';
import { readRun } from './runs.js';
import type { Session } from './session.js';
import { insertSteps } from './steps.js';
import { awaitResultWhenDelivered } from './taking-over.js';

/** One attempt's ending, on its way into the ledger. */
interface Ended {
  readonly run: number;
  readonly position: number;
  readonly claim: Claim;
  readonly ending: StepEnding;
  readonly at: number;
}

/** Done inside a transaction. */
export async function record(
  session: Session,
  claim: Claim,
  ending: StepEnding,
  at: number,
  mayBeDone: boolean,
): Promise<Recorded> {
  const recorded = mayBeDone ? await findRecorded(session, claim, ending) : undefined;
  if (recorded) {
    const ended = { ...recorded, claim, ending, at };
    return { run: await readRun(session, ended.run), opened: await openedBy(session, ended) };
  }
  const { run: row, position } = await lockClaim(session, claim);
  const ended = { run: Number(row.number), position, claim, ending, at };
  await endStep(session, ended);
  if (claim.mayRepeat && ending.nothingSent) await takeBackRepeated(session, ended);
  if (ending.file) await addToFile(session, row, ending.file);
  await keepEvidence(session, ended);
  if (row.delivery === 'file') await awaitResultWhenDelivered(session, ended.run);
  return { run: await readRun(session, ended.run), opened: await openedBy(session, ended) };
}

async function endStep(session: Session, { run, position, claim, ending, at }: Ended): Promise<void> {
  const { name, bookings } = claim.step;
  const end = (state: 'done' | 'refused' | 'failed' | 'halved' | 'overdue', outcomeUnknown = false) =>
    session.run(
      `UPDATE hotel_review.steps SET state = $1, ended_at = $2, last_code = $3, outcome_unknown = $4
       WHERE run = $5 AND name = $6`,
      state,
      at,
      ending.evidence.code,
      outcomeUnknown,
      run,
      name,
    );
  const openAgain = (change: {
    spendsTry?: boolean;
    waits?: boolean;
    outcomeUnknown: boolean;
    notBefore: number | null;
  }) =>
    session.run(
      `UPDATE hotel_review.steps SET state = 'ready', tries = tries + $1, waits = waits + $2, outcome_unknown = $3,
         not_before = $4, last_code = $5
       WHERE run = $6 AND name = $7`,
      change.spendsTry ? 1 : 0,
      change.waits ? 1 : 0,
      change.outcomeUnknown,
      change.notBefore,
      ending.evidence.code,
      run,
      name,
    );
  switch (ending.kind) {
    case 'done':
      await end('done');
      await session.run(
        `UPDATE hotel_review.steps SET state = 'ready' WHERE run = $1 AND after = $2 AND state = 'waiting'`,
        run,
        name,
      );
      await session.run(
        `UPDATE hotel_review.runs SET delivered = delivered + $1, open_steps = open_steps - 1, failures_in_row = 0
         WHERE number = $2`,
        bookings,
        run,
      );
      return;
    case 'refused':
      await end('refused');
      await session.run(
        `UPDATE hotel_review.runs SET refused = refused + $1, open_steps = open_steps - 1, failures_in_row = 0
         WHERE number = $2`,
        bookings,
        run,
      );
      return;
    case 'failed':
      await end('failed', ending.outcomeUnknown ?? false);
      await session.run(
        `UPDATE hotel_review.runs SET open_steps = open_steps - $1, failed_steps = failed_steps + 1,
           failures_in_row = failures_in_row + 1
         WHERE number = $2`,
        1 + (await countSuccessors(session, run, name)),
        run,
      );
      return;
    case 'overdue':
      await end('overdue');
      await session.run(
        'UPDATE hotel_review.runs SET open_steps = open_steps - $1 WHERE number = $2',
        1 + (await countSuccessors(session, run, name)),
        run,
      );
      return;
    case 'halved':
      await end('halved');
      await insertSteps(
        session,
        run,
        ending.halves.map((step) => ({ step, position })),
      );
      await session.run(
        'UPDATE hotel_review.runs SET open_steps = open_steps + 1, failures_in_row = 0 WHERE number = $1',
        run,
      );
      return;
    case 'retry':
      await openAgain({
        spendsTry: ending.spendsTry,
        waits: !ending.spendsTry,
        outcomeUnknown: ending.outcomeUnknown,
        notBefore: ending.notBefore,
      });
      return;
    case 'fatal':
      await openAgain({ outcomeUnknown: false, notBefore: null });
      await session.run(
        `UPDATE hotel_review.runs SET state = 'failed', finished_at = $1, failure_class = 'fatal', failure_code = $2,
           failure_message = $3
         WHERE number = $4 AND state IN ('delivering', 'awaiting-result')`,
        at,
        ending.evidence.code,
        ending.message,
        run,
      );
      return;
    case 'interrupted':
      await openAgain({ outcomeUnknown: true, notBefore: null });
      return;
  }
}

/** The steps that an ending opened, as far as nobody has taken them since. */
async function openedBy(session: Session, { run, position, claim, ending }: Ended): Promise<OpenStep[]> {
  const { step, attempt } = claim;
  switch (ending.kind) {
    case 'done': {
      const rows = await session.rows(
        `SELECT position, name, attempts, not_before FROM hotel_review.steps
         WHERE run = $1 AND after = $2 AND state = 'ready' ORDER BY position, name`,
        run,
        step.name,
      );
      return rows.map(toOpenStep);
    }
    case 'halved':
      return ending.halves.map(({ name }) => ({ position, name, attempt: 1 }));
    case 'retry':
      return [{ position, name: step.name, attempt: attempt + 1, notBefore: ending.notBefore }];
    case 'interrupted':
      return [{ position, name: step.name, attempt: attempt + 1 }];
    case 'refused':
    case 'failed':
    case 'overdue':
    case 'fatal':
      return [];
  }
}

/**
 * Claimed again after an unknown outcome, a step's bookings were counted as sent again. Where they were not, the count
 * is taken back, and the outcome is as unknown as it was, unless the step is done.
 */
async function takeBackRepeated(session: Session, { run, claim, ending }: Ended): Promise<void> {
  const { name, bookings } = claim.step;
  await session.run(
    'UPDATE hotel_review.steps SET repeated = repeated - $1, outcome_unknown = $2 WHERE run = $3 AND name = $4',
    bookings,
    ending.kind !== 'done',
    run,
    name,
  );
  await session.run('UPDATE hotel_review.runs SET repeated = repeated - $1 WHERE number = $2', bookings, run);
}

/** The steps that wait behind a step, near and far: while it is not done, they can't be worked on. */
async function countSuccessors(session: Session, run: number, name: string): Promise<number> {
  const row = await session.row(
    `WITH RECURSIVE behind (name) AS (
       SELECT name FROM hotel_review.steps WHERE run = $1 AND after = $2
       UNION ALL SELECT steps.name FROM hotel_review.steps JOIN behind ON steps.after = behind.name WHERE run = $1
     ) SELECT count(*) AS count FROM behind`,
    run,
    name,
  );
  return Number(row?.count);
}

/** What a step found out of the run's file is added to what is known. */
async function addToFile(session: Session, run: StoredRow, found: Partial<ReviewFile>): Promise<void> {
  const known = run.file ? (JSON.parse(String(run.file)) as Partial<ReviewFile>) : {};
  await session.run(
    'UPDATE hotel_review.runs SET file = $1 WHERE number = $2',
    JSON.stringify({ ...known, ...found }),
    Number(run.number),
  );
}
