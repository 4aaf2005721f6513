import { FencedError, type OpenStep } from '../../review/ledger.js';
import type { Claim, StepEnding } from '../../review/step.js';
import { toOpenStep } from '../stored-step.js';
import type { Session, Value } from './session.js';
import { insertSteps } from './steps.js';

/** One attempt's ending, on its way into the ledger. */
export interface Ended {
  readonly run: number;
  readonly claim: Claim;
  readonly ending: StepEnding;
  readonly at: number;
}

/**
 * Writes what the ending means for the step, for those behind it and for the run's counts. Done with the run locked.
 * Answers the steps that it opened.
 *
 * @throws FencedError when the step is not performed under this claim any more.
 */
export async function endStep(session: Session, ended: Ended): Promise<readonly OpenStep[]> {
  const { run, claim, ending, at } = ended;
  const { name, bookings } = claim.step;
  const { code } = ending.evidence;
  const count = (change: string, ...values: readonly number[]) =>
    session.run(`UPDATE hotel_review.runs SET ${change} WHERE number = $1`, run, ...values);
  const end = (state: 'done' | 'refused' | 'failed' | 'halved' | 'overdue', outcomeUnknown = false) =>
    updateClaimed(
      session,
      ended,
      'state = $5, ended_at = $6, last_code = $7, outcome_unknown = $8',
      state,
      at,
      code,
      outcomeUnknown,
    );
  const openAgain = (change: {
    spendsTry?: boolean;
    waits?: boolean;
    outcomeUnknown: boolean;
    notBefore: number | null;
  }) =>
    updateClaimed(
      session,
      ended,
      `state = 'ready', tries = tries + $5, waits = waits + $6, outcome_unknown = $7, not_before = $8, last_code = $9`,
      change.spendsTry ? 1 : 0,
      change.waits ? 1 : 0,
      change.outcomeUnknown,
      change.notBefore,
      code,
    );
  switch (ending.kind) {
    case 'done':
      await end('done');
      await count('delivered = delivered + $2, open_steps = open_steps - 1, failures_in_row = 0', bookings);
      return openSuccessors(session, run, name);
    case 'refused':
      await end('refused');
      await count('refused = refused + $2, open_steps = open_steps - 1, failures_in_row = 0', bookings);
      return [];
    case 'failed':
      await end('failed', ending.outcomeUnknown ?? false);
      await count(
        'open_steps = open_steps - $2, failed_steps = failed_steps + 1, failures_in_row = failures_in_row + 1',
        1 + (await countSuccessors(session, run, name)),
      );
      return [];
    case 'overdue':
      await end('overdue');
      await count('open_steps = open_steps - $2', 1 + (await countSuccessors(session, run, name)));
      return [];
    case 'halved': {
      const position = await end('halved');
      await insertSteps(
        session,
        run,
        ending.halves.map((step) => ({ step, position })),
      );
      await count('open_steps = open_steps + 1, failures_in_row = 0');
      return openedAgain(position, claim, ending);
    }
    case 'retry': {
      const { spendsTry, outcomeUnknown, notBefore } = ending;
      const position = await openAgain({ spendsTry, waits: !spendsTry, outcomeUnknown, notBefore });
      return openedAgain(position, claim, ending);
    }
    case 'fatal':
      await openAgain({ outcomeUnknown: false, notBefore: null });
      await session.run(
        `UPDATE hotel_review.runs SET state = 'failed', finished_at = $1, failure_class = 'fatal', failure_code = $2,
           failure_message = $3
         WHERE number = $4 AND state IN ('delivering', 'awaiting-result')`,
        at,
        code,
        ending.message,
        run,
      );
      return [];
    case 'interrupted':
      return openedAgain(await openAgain({ outcomeUnknown: true, notBefore: null }), claim, ending);
  }
}

/** The steps that an ending opened which is recorded already, as far as nobody has taken them since. */
export async function openedSince(
  session: Session,
  { run, claim, ending }: Ended,
  position: number,
): Promise<readonly OpenStep[]> {
  if (ending.kind !== 'done') return openedAgain(position, claim, ending);
  const rows = await session.rows(
    `SELECT position, name, attempts, not_before FROM hotel_review.steps
     WHERE run = $1 AND after = $2 AND state = 'ready' ORDER BY position, name`,
    run,
    claim.step.name,
  );
  return rows.map(toOpenStep);
}

/** The halves of a step, or the step itself again. */
function openedAgain(position: number, { step, attempt }: Claim, ending: StepEnding): OpenStep[] {
  switch (ending.kind) {
    case 'halved':
      return ending.halves.map(({ name }) => ({ position, name, attempt: 1 }));
    case 'retry':
      return [{ position, name: step.name, attempt: attempt + 1, notBefore: ending.notBefore }];
    case 'interrupted':
      return [{ position, name: step.name, attempt: attempt + 1 }];
    case 'done':
    case 'refused':
    case 'failed':
    case 'overdue':
    case 'fatal':
      return [];
  }
}

/** Changes the step while it is performed under the claim, and answers its position. The change's values begin at $5. */
async function updateClaimed(
  session: Session,
  { run, claim }: Ended,
  change: string,
  ...values: readonly Value[]
): Promise<number> {
  const row = await session.row(
    `UPDATE hotel_review.steps SET ${change}
     WHERE run = $1 AND name = $2 AND state = 'running' AND attempts = $3 AND token = $4 RETURNING position`,
    run,
    claim.step.name,
    claim.attempt,
    claim.token,
    ...values,
  );
  if (!row) throw new FencedError(claim.step.runId);
  return Number(row.position);
}

async function openSuccessors(session: Session, run: number, name: string): Promise<OpenStep[]> {
  const rows = await session.rows(
    `UPDATE hotel_review.steps SET state = 'ready' WHERE run = $1 AND after = $2 AND state = 'waiting'
     RETURNING position, name, attempts, not_before`,
    run,
    name,
  );
  return rows.map(toOpenStep).sort((a, b) => a.position - b.position);
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
