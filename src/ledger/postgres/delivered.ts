import type { DeliveredCursor, DeliveredLines } from '../../review/collected.js';
import { sliceLines } from '../../review/lines/line-buffer.js';
import type { BookingForm } from '../../review/step.js';
import { runNumber } from './runs.js';
import type { Session } from './session.js';

/**
 * What other runs of the day have delivered: the slices of batches that are done, and every batch of a file whose
 * by-file call was accepted. The cursor is the place in that list, by run, form, batch and first booking.
 *
 * Done in one snapshot.
 */
export async function nextDelivered(
  session: Session,
  runId: string,
  after: DeliveredCursor | undefined,
): Promise<DeliveredLines | undefined> {
  const own = await runNumber(session, runId);
  const [afterRun = '0', afterForm = '', afterBatch = '-1', afterFirst = '-1'] = after?.split(' ') ?? [];
  const row = await session.row(
    `WITH others AS (
       SELECT number FROM hotel_review.runs
       WHERE day = (SELECT day FROM hotel_review.runs WHERE number = $1) AND number <> $1 AND number >= $2
         AND names_blanked_at IS NULL AND pruned_at IS NULL
     ), slices AS (
       SELECT number, form, batch, first, steps.bookings
       FROM others JOIN hotel_review.steps ON steps.run = number
       WHERE form = 'body' AND kind = 'batch' AND state = 'done'
       UNION ALL
       SELECT number, form, batch, 0, batches.bookings
       FROM others JOIN hotel_review.batches ON batches.run = number
       WHERE form = 'file' AND EXISTS (
         SELECT 1 FROM hotel_review.steps WHERE steps.run = number AND name = 'trigger' AND state = 'done'
       )
     ), next AS (
       SELECT * FROM slices WHERE (number, form, batch, first) > ($2, $3, $4, $5)
       ORDER BY number, form, batch, first LIMIT 1
     )
     SELECT next.*, lines FROM next
     JOIN hotel_review.batches ON batches.run = number AND batches.form = next.form AND batches.batch = next.batch`,
    own,
    Number(afterRun),
    afterForm,
    Number(afterBatch),
    Number(afterFirst),
  );
  if (!row) return undefined;
  const slice = {
    form: row.form as BookingForm,
    batch: Number(row.batch),
    first: Number(row.first),
    bookings: Number(row.bookings),
  };
  return {
    cursor: [row.number, slice.form, slice.batch, slice.first].join(' ') as DeliveredCursor,
    form: slice.form,
    lines: sliceLines(row.lines as Buffer, slice),
  };
}
