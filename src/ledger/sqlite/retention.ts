import type { BookingForm } from '../../review/step.js';
import type { Database } from './database.js';
import { quotedActiveStates } from './runs.js';

/** Rewrites the bookings of old runs a batch a transaction, so that a run at work never waits long. */
export function blankGuestNames(
  database: Database,
  before: string,
  blank: (lines: Buffer, form: BookingForm) => Buffer,
  at: number,
): number {
  const runs = database.all('SELECT number FROM runs WHERE day < ? AND names_blanked_at IS NULL', before);
  for (const { number } of runs) {
    const run = Number(number);
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
      // A run at work may yet write names: it is looked at again.
      database.run(
        `UPDATE runs SET names_blanked_at = ? WHERE number = ? AND state NOT IN (${quotedActiveStates})`,
        at,
        run,
      );
    });
  }
  return runs.length;
}

export function prune(database: Database, before: string, at: number): number {
  const runs = database.all('SELECT number FROM runs WHERE day < ? AND pruned_at IS NULL', before);
  for (const { number } of runs) {
    database.transact(() => {
      for (const table of ['attempts', 'steps', 'reference_pages', 'batches', 'rejects', 'warnings']) {
        database.run(`DELETE FROM ${table} WHERE run = ?`, Number(number));
      }
      database.run(
        `UPDATE runs SET pruned_at = ?, token = token + 1,
           state = CASE WHEN state = 'succeeded' THEN state ELSE 'cancelled' END
         WHERE number = ?`,
        at,
        Number(number),
      );
    });
  }
  return runs.length;
}
