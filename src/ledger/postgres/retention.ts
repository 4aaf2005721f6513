import type { Hold } from '../../async/hold.js';
import type { Run } from '../../review/run.js';
import type { BookingForm } from '../../review/step.js';
import { quotedActiveStates, runTables, toRun } from '../stored-run.js';
import type { Database } from './database.js';
import { lockRun } from './runs.js';
import type { Session } from './session.js';

/** Takes the right to work on a day; undefined if somebody else holds it. */
export type HoldDay = (day: string) => Promise<Hold | undefined>;

/** A run of an old day may itself be recent: the age counts from the day or the run's end, whichever is later. */
const isOld = 'day < $1 AND coalesce(finished_at, started_at) < $2';

export async function listRunsWithNames(session: Session, before: string): Promise<Run[]> {
  const rows = await session.rows(
    `SELECT * FROM hotel_review.runs
     WHERE ${isOld} AND names_blanked_at IS NULL AND state NOT IN (${quotedActiveStates})`,
    before,
    Date.parse(before),
  );
  return rows.map(toRun);
}

/** Rewrites the bookings of old runs one batch per transaction, so that nobody waits long for it. */
export async function blankGuestNames(
  database: Database,
  before: string,
  blank: (lines: Buffer, form: BookingForm) => Buffer,
  at: number,
  holdDay: HoldDay,
): Promise<number> {
  return forOldRuns(database, before, 'names_blanked_at IS NULL', holdDay, (run, hold) =>
    blankRun(database, run, blank, at, hold),
  );
}

export async function prune(
  database: Database,
  before: string,
  at: number,
  holdDay: HoldDay,
): Promise<number> {
  return forOldRuns(database, before, 'pruned_at IS NULL', holdDay, (run) =>
    database.transact((session) => pruneRun(session, run, at)),
  );
}

/** Returns how many old runs it changed; runs in progress are left for the next time. */
async function forOldRuns(
  database: Database,
  before: string,
  quotedCondition: string,
  holdDay: HoldDay,
  work: (run: Run, hold: Hold) => Promise<void>,
): Promise<number> {
  const rows = await database.perform((session) =>
    session.rows(
      `SELECT * FROM hotel_review.runs WHERE ${isOld} AND ${quotedCondition} ORDER BY number`,
      before,
      Date.parse(before),
    ),
  );
  for (const run of rows.map(toRun)) {
    const hold = await holdDay(run.day);
    if (!hold) continue;
    try {
      if (!(await isWorkedOn(database, run.day))) await work(run, hold);
    } finally {
      await hold.release();
    }
  }
  return rows.length;
}

/** Workers claim steps of a run without holding its day. */
async function isWorkedOn(database: Database, day: string): Promise<boolean> {
  const row = await database.perform((session) =>
    session.row(
      `SELECT 1 AS found FROM hotel_review.runs JOIN hotel_review.steps ON run = number
       WHERE day = $1 AND runs.state IN (${quotedActiveStates}) AND steps.state = 'running'
         AND lease_until > clock_timestamp() LIMIT 1`,
      day,
    ),
  );
  return row !== undefined;
}

async function blankRun(
  database: Database,
  { id }: Run,
  blank: (lines: Buffer, form: BookingForm) => Buffer,
  at: number,
  { lost }: Hold,
): Promise<void> {
  const batches = await database.perform((session) =>
    session.rows(
      'SELECT run, form, batch FROM hotel_review.batches JOIN hotel_review.runs ON run = number WHERE id = $1',
      id,
    ),
  );
  for (const { run, form, batch } of batches) {
    if (lost.aborted) return;
    const key = [Number(run), String(form), Number(batch)] as const;
    await database.transact(async (session) => {
      const row = await session.row(
        'SELECT lines FROM hotel_review.batches WHERE run = $1 AND form = $2 AND batch = $3 FOR UPDATE',
        ...key,
      );
      if (!row) return;
      await session.run(
        'UPDATE hotel_review.batches SET lines = $4 WHERE run = $1 AND form = $2 AND batch = $3',
        ...key,
        blank(row.lines as Buffer, String(form) as BookingForm),
      );
    });
  }
  if (lost.aborted) return;
  await database.transact(async (session) => {
    const { number } = await lockRun(session, id);
    await session.run(
      'UPDATE hotel_review.attempts SET answer = NULL WHERE run = $1 AND answer IS NOT NULL',
      Number(number),
    );
    // A run in progress may still write names, so it is not marked as blanked.
    await session.run(
      `UPDATE hotel_review.runs SET names_blanked_at = $1
       WHERE number = $2 AND state NOT IN (${quotedActiveStates})`,
      at,
      Number(number),
    );
  });
}

async function pruneRun(session: Session, { id }: Run, at: number): Promise<void> {
  const number = Number((await lockRun(session, id)).number);
  for (const table of runTables) {
    await session.run(`DELETE FROM hotel_review.${table} WHERE run = $1`, number);
  }
  await session.run(
    `UPDATE hotel_review.runs SET pruned_at = $1, token = token + 1,
       state = CASE WHEN state = 'succeeded' THEN state ELSE 'cancelled' END
     WHERE number = $2`,
    at,
    number,
  );
}
