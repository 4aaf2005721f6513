import type { Suspect } from '../../review/collected.js';
import type { BatchCursor, SuspectLines } from '../../review/history.js';
import type { BookingForm } from '../../review/step.js';
import { toSuspect } from '../stored-suspect.js';
import { readBatch } from './collecting.js';
import type { Database } from './database.js';

export function nextSuspects(
  database: Database,
  run: number,
  after: BatchCursor | undefined,
): SuspectLines | undefined {
  const rows = database.all(
    `SELECT * FROM suspects WHERE run = ? AND (form, batch) = (
       SELECT form, batch FROM suspects WHERE run = ? AND (form, batch) > (?, ?) ORDER BY form, batch LIMIT 1
     ) ORDER BY place`,
    run,
    run,
    after?.form ?? '',
    after?.batch ?? -1,
  );
  const [first] = rows;
  if (!first) return undefined;
  const form = String(first.form) as BookingForm;
  const batch = Number(first.batch);
  const lines = readBatch(database, run, form, batch).toString().split('\n');
  return {
    cursor: { form, batch },
    form,
    suspects: rows.map(toSuspect).map((suspect) => ({ ...suspect, line: lines[suspect.place] ?? '' })),
  };
}

export function findSuspect(
  database: Database,
  run: number,
  form: BookingForm,
  batch: number,
  place: number,
): Suspect | undefined {
  const row = database.get(
    'SELECT * FROM suspects WHERE run = ? AND form = ? AND batch = ? AND place = ?',
    run,
    form,
    batch,
    place,
  );
  return row && toSuspect(row);
}
