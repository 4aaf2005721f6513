import { sliceLines } from '../../review/line-slice.js';
import type { BookingForm } from '../../review/step.js';
import type { DeliveredCursor, DeliveredLines } from '../ledger.js';
import { readBatch } from './collecting.js';
import type { Database } from './database.js';

/**
 * What other runs of the day have delivered: the slices of batches that are done, and every batch of a file whose
 * by-file call was accepted. The cursor is the place in that list, by run, form, batch and first booking.
 */
export function nextDelivered(
  database: Database,
  run: number,
  after: DeliveredCursor | undefined,
): DeliveredLines | undefined {
  const [afterRun, afterForm, afterBatch, afterFirst] = after?.split(' ') ?? ['-1', '', '-1', '-1'];
  const row = database.get(
    `WITH others AS (
       SELECT other.number FROM runs JOIN runs AS other ON other.day = runs.day AND other.number <> runs.number
       WHERE runs.number = ? AND other.names_blanked_at IS NULL AND other.pruned_at IS NULL
     )
     SELECT run, form, batch, first, bookings FROM (
       SELECT run, form, batch, first, bookings FROM steps WHERE kind = 'batch' AND state = 'done'
       UNION ALL
       SELECT batches.run, batches.form, batch, 0, batches.bookings FROM batches
       JOIN steps ON steps.run = batches.run AND steps.name = 'trigger' AND steps.state = 'done'
       WHERE batches.form = 'file'
     )
     WHERE run IN (SELECT number FROM others) AND (run, form, batch, first) > (?, ?, ?, ?)
     ORDER BY run, form, batch, first LIMIT 1`,
    run,
    Number(afterRun),
    String(afterForm),
    Number(afterBatch),
    Number(afterFirst),
  );
  if (!row) return undefined;
  const [other, batch, first] = [Number(row.run), Number(row.batch), Number(row.first)];
  const form = String(row.form) as BookingForm;
  const lines = readBatch(database, other, form, batch);
  return {
    cursor: [other, form, batch, first].join(' ') as DeliveredCursor,
    form,
    lines: sliceLines(lines, { first, bookings: Number(row.bookings) }),
  };
}
