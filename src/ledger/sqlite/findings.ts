import type { Suspect } from '../../review/collected.js';
import type { AffectedLines, AffectedPlaces, BatchCursor, SuspectLines } from '../../review/history.js';
import type { BookingForm } from '../../review/step.js';
import { packPlaces, toSuspect, unpackPlaces } from '../stored-findings.js';
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

export function replaceAffected(database: Database, run: number, affected: readonly AffectedPlaces[]): void {
  database.run('DELETE FROM affected WHERE run = ?', run);
  let count = 0;
  for (const { batch, places } of affected) {
    database.run(
      'INSERT INTO affected (run, batch, places) VALUES (?, ?, ?)',
      run,
      batch,
      packPlaces(places),
    );
    count += places.length;
  }
  database.run('UPDATE runs SET affected = ? WHERE number = ?', count, run);
}

export function nextAffected(database: Database, run: number, after: number): AffectedLines | undefined {
  const row = database.get(
    'SELECT batch, places FROM affected WHERE run = ? AND batch > ? ORDER BY batch LIMIT 1',
    run,
    after,
  );
  if (!row) return undefined;
  const batch = Number(row.batch);
  const lines = readBatch(database, run, 'file', batch).toString().split('\n');
  return { batch, lines: unpackPlaces(row.places as Buffer).map((place) => lines[place] ?? '') };
}

export function isAffected(database: Database, run: number, batch: number, place: number): boolean {
  const row = database.get('SELECT places FROM affected WHERE run = ? AND batch = ?', run, batch);
  return row !== undefined && unpackPlaces(row.places as Buffer).includes(place);
}
