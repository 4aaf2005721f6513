import type { DeliveredCursor, DeliveredLines } from '../../review/collected.js';
import type { GuestNames } from '../../review/guest-names.js';
import { sliceLines } from '../../review/line-buffer.js';
import type { Trigger } from '../../review/run.js';
import type { BookingForm, Slice } from '../../review/step.js';
import { all, one, type Query } from '../query.js';
import { isComparable, nameForm } from '../runs.js';
import { placeOfBatch, type Sealing } from '../sealing.js';

/**
 * What other runs of the day have delivered: the slices of batches that are done, and every batch of a file whose
 * by-file call was accepted. The cursor is a position in that list, by run, form, batch and first booking.
 */
export function* nextDelivered(
  sealing: Sealing,
  run: number,
  after: DeliveredCursor | undefined,
): Query<DeliveredLines | undefined> {
  const [afterRun, afterForm, ...afterPlace] = after?.split(' ') ?? ['-1'];
  for (const { number: other, trigger, guestNames } of yield* listOthers(run, Number(afterRun))) {
    const place = other === Number(afterRun) ? afterPlace.map(Number) : [];
    const slice =
      (afterForm === 'file' && place.length > 0 ? undefined : yield* nextPosted(other, place)) ??
      (yield* nextOfFile(other, afterForm === 'file' ? place : []));
    if (!slice) continue;
    const { form, batch, first } = slice;
    return {
      cursor: [other, form, batch, first].join(' ') as DeliveredCursor,
      form,
      trigger,
      guestNames,
      lines: sliceLines(yield* readBatch(sealing, other, form, batch), slice),
    };
  }
  return undefined;
}

function* listOthers(
  run: number,
  from: number,
): Query<{ readonly number: number; readonly trigger: Trigger; readonly guestNames: GuestNames }[]> {
  const rows = yield* all(
    `SELECT number, trigger, ${nameForm} AS names FROM runs
     WHERE day = (SELECT day FROM runs WHERE number = ?) AND number <> ? AND number >= ? AND ${isComparable} ORDER BY number`,
    run,
    run,
    from,
  );
  return rows.map(({ number, trigger, names }) => ({
    number: Number(number),
    trigger: String(trigger) as Trigger,
    guestNames: String(names) as GuestNames,
  }));
}

function* nextPosted(run: number, [batch = -1, first = -1]: readonly number[]): Query<Slice | undefined> {
  const row = yield* one(
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

function* nextOfFile(run: number, [batch = -1]: readonly number[]): Query<Slice | undefined> {
  const row = yield* one(
    `SELECT batch, bookings FROM batches WHERE run = ? AND form = 'file' AND batch > ?
       AND EXISTS (SELECT 1 FROM steps WHERE run = ? AND name = 'trigger' AND state = 'done')
     ORDER BY batch LIMIT 1`,
    run,
    batch,
    run,
  );
  return row && { form: 'file', batch: Number(row.batch), first: 0, bookings: Number(row.bookings) };
}

function* readBatch(sealing: Sealing, run: number, form: BookingForm, batch: number): Query<Buffer> {
  const row = yield* one(
    'SELECT lines FROM batches WHERE run = ? AND form = ? AND batch = ?',
    run,
    form,
    batch,
  );
  if (!row) throw new RangeError(`no ${form} batch ${batch} in the ledger`);
  return sealing.openLines(row.lines, placeOfBatch(run, form, batch));
}
