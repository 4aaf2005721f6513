import type { AffectedLines, AffectedPlaces } from '../../review/history.js';
import { packPlaces, unpackPlaces } from '../packed-places.js';
import { readBatch } from './collecting.js';
import type { Database } from './database.js';

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
