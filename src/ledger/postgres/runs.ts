import {
  FencedError,
  type LedgerSummary,
  type NewRun,
  type Right,
  type Settlement,
} from '../../review/ledger.js';
import { noRuns, type Run, type RunState } from '../../review/run.js';
import {
  cancelRun,
  finishTakeOver,
  patchRun,
  reopenAbandoned,
  settleRun,
  takeOverSteps,
} from '../../review/state-machine.js';
import { quotedActiveStates, toRun } from '../stored-run.js';
import { type StoredRow, withoutUndefined } from '../stored-values.js';
import { changeRun, changeSteps, readTotals } from './changes.js';
import type { Session } from './session.js';

/** A run's row number: short, so that the tables that refer to it stay small. */
export async function runNumber(session: Session, runId: string): Promise<number> {
  const row = await session.row('SELECT number FROM hotel_review.runs WHERE id = $1', runId);
  if (!row) throw noSuchRun(runId);
  return Number(row.number);
}

export function noSuchRun(runId: string): RangeError {
  return new RangeError(`no run ${runId} in the ledger`);
}

/**
 * Locks a run for the rest of the transaction. Every writer to a run or its tables does this first, so that writers of
 * one run are serialised and can't deadlock.
 */
export async function lockRun(session: Session, runId: string): Promise<StoredRow> {
  const row = await session.row('SELECT * FROM hotel_review.runs WHERE id = $1 FOR NO KEY UPDATE', runId);
  if (!row) throw noSuchRun(runId);
  return row;
}

/** @throws FencedError when the run's token has changed. */
export async function lockRight(session: Session, { runId, token }: Right): Promise<StoredRow> {
  const row = await session.row(
    'SELECT * FROM hotel_review.runs WHERE id = $1 AND token = $2 FOR NO KEY UPDATE',
    runId,
    token,
  );
  if (!row) throw new FencedError(runId);
  return row;
}

export async function readRun(session: Session, number: number): Promise<Run> {
  const row = await session.row('SELECT * FROM hotel_review.runs WHERE number = $1', number);
  if (!row) throw new RangeError(`no run number ${number} in the ledger`);
  return toRun(row);
}

export async function getRun(session: Session, runId: string): Promise<Run> {
  const run = await findRun(session, runId);
  if (!run) throw noSuchRun(runId);
  return run;
}

async function findRun(session: Session, runId: string): Promise<Run | undefined> {
  const row = await session.row('SELECT * FROM hotel_review.runs WHERE id = $1', runId);
  return row && toRun(row);
}

export async function readLatestRun(session: Session, day: string): Promise<Run | undefined> {
  return (await listRuns(session, { day, limit: 1 }))[0];
}

export async function listRuns(
  session: Session,
  { day, limit }: { readonly day?: string; readonly limit: number },
): Promise<Run[]> {
  const rows =
    day === undefined
      ? await session.rows('SELECT * FROM hotel_review.runs ORDER BY day DESC, number DESC LIMIT $1', limit)
      : await session.rows(
          'SELECT * FROM hotel_review.runs WHERE day = $1 ORDER BY number DESC LIMIT $2',
          day,
          limit,
        );
  return rows.map(toRun);
}

export async function listLatestRuns(
  session: Session,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<Run[]> {
  const rows = await session.rows(
    `SELECT DISTINCT ON (day) * FROM hotel_review.runs WHERE day BETWEEN $1 AND $2 ORDER BY day, number DESC`,
    from,
    to,
  );
  return rows.map(toRun);
}

export async function listActiveRuns(session: Session): Promise<Run[]> {
  const rows = await session.rows(
    `SELECT * FROM hotel_review.runs WHERE state IN (${quotedActiveStates}) ORDER BY day, number`,
  );
  return rows.map(toRun);
}

export async function summarise(session: Session): Promise<LedgerSummary> {
  const rows = await session.rows(
    `SELECT state, count(*) AS count, min(day) AS first_day, max(day) AS last_day FROM hotel_review.runs GROUP BY state`,
  );
  const byState = new Map(rows.map((row) => [String(row.state) as RunState, row]));
  const [firstDay] = rows.map((row) => String(row.first_day)).sort();
  const succeeded = byState.get('succeeded');
  return withoutUndefined({
    runsByState: {
      ...noRuns,
      ...Object.fromEntries([...byState].map(([state, row]) => [state, Number(row.count)])),
    },
    firstDay,
    lastGoodDay: succeeded && String(succeeded.last_day),
  });
}

export async function createRun(session: Session, run: NewRun, mayBeDone: boolean): Promise<Run> {
  const made = mayBeDone ? await findRun(session, run.id) : undefined;
  if (made) return made;
  if (run.replaces !== undefined) {
    const replaced = await lockRun(session, run.replaces);
    await changeRun(session, Number(replaced.number), cancelRun(toRun(replaced), run.startedAt));
  }
  const row = await session.row(
    `INSERT INTO hotel_review.runs (id, day, delivery, trigger, reason, tops_up, state, started_at)
     VALUES ($1, $2, $3, $4, $5, $6, 'collecting', $7) RETURNING *`,
    run.id,
    run.day,
    run.delivery,
    run.trigger,
    run.reason ?? null,
    run.topsUp ?? false,
    run.startedAt,
  );
  if (!row) throw noSuchRun(run.id);
  return toRun(row);
}

export async function takeOver(session: Session, runId: string): Promise<Run> {
  const row = await lockRun(session, runId);
  const number = Number(row.number);
  const run = toRun(row);
  for (const change of takeOverSteps(run)) await changeSteps(session, number, change);
  const patch = finishTakeOver(run, await readTotals(session, number));
  await changeRun(session, number, patch);
  return patchRun(run, patch);
}

/** Returns how many steps it reopened. */
export async function reopenAbandonedSteps(session: Session, runId: string): Promise<number> {
  const { number } = await lockRun(session, runId);
  return changeSteps(session, Number(number), reopenAbandoned);
}

/** @param mayBeDone an earlier try may have settled it; then the result is the same */
export async function settle(
  session: Session,
  right: Right,
  settlement: Settlement,
  mayBeDone: boolean,
): Promise<boolean> {
  const row = await lockRight(session, right);
  const run = toRun(row);
  const { state, at } = settlement;
  const finishedAt = state === 'awaiting-result' ? undefined : at;
  if (mayBeDone && run.state === state && run.finishedAt === finishedAt) return true;
  const patch = settleRun(run, settlement);
  if (patch) await changeRun(session, Number(row.number), patch);
  return patch !== undefined;
}

const rememberedMs = 31 * 24 * 60 * 60 * 1_000;

export async function findHookRun(session: Session, requestId: string): Promise<string | undefined> {
  const row = await session.row('SELECT run_id FROM hotel_review.hook_requests WHERE id = $1', requestId);
  return row && String(row.run_id);
}

/** Also deletes entries too old to recur. Call it inside a transaction. */
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
