import type { DeliveredCursor, DeliveredLines } from '../../review/collected.js';
import { sliceLines } from '../../review/lines/line-buffer.js';
import type { Slice } from '../../review/step.js';
import { readBatch } from './collecting.js';
import type { Database } from './database.js';

/**
 * What other runs of the day have delivered: the slices of batches that are done, and every batch of a file whose
 * by-file call was accepted. The cursor is a position in that list, by run, form, batch and first booking.
 */
export function nextDelivered(
  database: Database,
  run: number,
  after: DeliveredCursor | undefined,
): DeliveredLines | undefined {
  const [afterRun, afterForm, ...afterPlace] = after?.split(' ') ?? ['-1'];
  for (const other of listOthers(database, run, Number(afterRun))) {
    const place = other === Number(afterRun) ? afterPlace.map(Number) : [];
    const slice =
      (afterForm === 'file' && place.length > 0 ? undefined : nextPosted(database, other, place)) ??
      nextOfFile(database, other, afterForm === 'file' ? place : []);
    if (!slice) continue;
    const { form, batch, first } = slice;
    return {
      cursor: [other, form, batch, first].join(' ') as DeliveredCursor,
      form,
      lines: sliceLines(readBatch(database, other, form, batch), slice),
    };
  }
  return undefined;
}

function listOthers(database: Database, run: number, from: number): number[] {
  return database
    .all(
      `SELECT other.number FROM runs JOIN runs AS other ON other.day = runs.day AND other.number <> runs.number
       WHERE runs.number = ? AND other.number >= ? AND other.names_blanked_at IS NULL AND other.pruned_at IS NULL
       ORDER BY other.number`,
      run,
      from,
    )
    .map(({ number }) => Number(number));
}

function nextPosted(
  database: Database,
  run: number,
  [batch = -1, first = -1]: readonly number[],
): Slice | undefined {
  const row = database.get(
    `SELECT batch, first, bookings FROM steps INDEXED BY steps_by_slice
     WHERE run = ? AND form = 'body' AND (batch, first) > (?, ?) AND kind = 'batch' AND state = 'done'
     ORDER BY batch, first LIMIT 1`,
    run,
    batch,
    first,
  );
  return (
    row && {
      form: 'body',
      batch: Number(row.batch),
      first: Number(row.first),
      bookings: Number(row.bookings),
    }
  );
}

function nextOfFile(database: Database, run: number, [batch = -1]: readonly number[]): Slice | undefined {
  const row = database.get(
    `SELECT batch, bookings FROM batches WHERE run = ? AND form = 'file' AND batch > ?
       AND EXISTS (SELECT 1 FROM steps WHERE run = ? AND name = 'trigger' AND state = 'done')
     ORDER BY batch LIMIT 1`,
    run,
    batch,
    run,
  );
  return row && { form: 'file', batch: Number(row.batch), first: 0, bookings: Number(row.bookings) };
}
