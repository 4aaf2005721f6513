import type { Run } from '../../review/run.js';
import type { BookingForm } from '../../review/step.js';
import { quotedActiveStates, runTables } from '../stored-run.js';
import type { Database } from './database.js';
import { readRun } from './runs.js';

/** Runs the work unless somebody is working on that day. */
export type WhenDayIsFree = (day: string, work: () => void) => void;

/** A run of an old day may itself be recent: the age counts from the day or the run's end, whichever is later. */
const isOld = 'day < ? AND coalesce(finished_at, started_at) < ?';

export function listRunsWithNames(database: Database, before: string): Run[] {
  const rows = database.all(
    `SELECT number FROM runs WHERE ${isOld} AND names_blanked_at IS NULL AND state NOT IN (${quotedActiveStates})`,
    before,
    Date.parse(before),
  );
  return rows.map(({ number }) => readRun(database, Number(number)));
}

/** Rewrites the bookings of old runs one batch per transaction, so that a run of another day never waits long. */
export function blankGuestNames(
  database: Database,
  before: string,
  blank: (lines: Buffer, form: BookingForm) => Buffer,
  at: number,
  whenDayIsFree: WhenDayIsFree,
): number {
  const runs = database.all(
    `SELECT number, day FROM runs WHERE ${isOld} AND names_blanked_at IS NULL`,
    before,
    Date.parse(before),
  );
  for (const { number, day } of runs) {
    whenDayIsFree(String(day), () => blankRun(database, Number(number), blank, at));
  }
  return runs.length;
}

function blankRun(
  database: Database,
  run: number,
  blank: (lines: Buffer, form: BookingForm) => Buffer,
  at: number,
): void {
  for (const { form, batch } of database.all('SELECT form, batch FROM batches WHERE run = ?', run)) {
    database.transact(() => {
      const row = database.get(
        'SELECT lines FROM batches WHERE run = ? AND form = ? AND batch = ?',
        run,
        String(form),
        Number(batch),
      );
      if (!row) return;
      database.run(
        'UPDATE batches SET lines = ? WHERE run = ? AND form = ? AND batch = ?',
        blank(row.lines as Buffer, String(form) as BookingForm),
        run,
        String(form),
        Number(batch),
      );
    });
  }
  database.transact(() => {
    database.run('UPDATE attempts SET answer = NULL WHERE run = ?', run);
    // A run in progress may still write names, so it is not marked as blanked.
    database.run(
      `UPDATE runs SET names_blanked_at = ? WHERE number = ? AND state NOT IN (${quotedActiveStates})`,
      at,
      run,
    );
  });
}

export function prune(database: Database, before: string, at: number, whenDayIsFree: WhenDayIsFree): number {
  const runs = database.all(
    `SELECT number, day FROM runs WHERE ${isOld} AND pruned_at IS NULL`,
    before,
    Date.parse(before),
  );
  for (const { number, day } of runs) {
    whenDayIsFree(String(day), () => pruneRun(database, Number(number), at));
  }
  return runs.length;
}

function pruneRun(database: Database, run: number, at: number): void {
  database.transact(() => {
    for (const table of runTables) {
      database.run(`DELETE FROM ${table} WHERE run = ?`, run);
    }
    database.run(
      `UPDATE runs SET pruned_at = ?, token = token + 1,
         state = CASE WHEN state = 'succeeded' THEN state ELSE 'cancelled' END
       WHERE number = ?`,
      at,
      run,
    );
  });
}
