import type { GuestNames } from '../booking/guest-names.js';
import { readStored, sliceLines } from './batches.js';
import type { DeliveredCursor, DeliveredLines } from './collecting.js';
import { database, type Query } from './query.js';
import type { Trigger } from './run.js';
import { isComparable, nameForm, runNumber } from './runs.js';
import type { BookingForm, Slice } from './step.js';
import * as t from './table.js';

/**
 * What other runs of the same day's bookings have delivered: the next chunk after the cursor, one stored batch per chunk;
 * undefined at the end. Where guest names were blanked, only what runs of trigger `today` delivered, without names.
 *
 * It lists the slices of batches that are done, and every batch of a file whose by-file call was accepted. The cursor is a
 * position in that list, by run, form, batch and first booking.
 */
export function* nextDelivered(runId: string, after?: DeliveredCursor): Query<DeliveredLines | undefined> {
  const run = yield* runNumber(runId);
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
      lines: sliceLines(yield* readStored(other, form, batch), slice),
    };
  }
  return undefined;
}

const others = t.columnsOf({
  ...{ number: t.integer, trigger: t.text<Trigger>(), guestNames: t.text<GuestNames>() },
});

function listOthers(run: number, from: number): Query<t.Row<typeof others>[]> {
  return others.all(
    `SELECT number, trigger, ${nameForm} AS guest_names FROM runs
     WHERE day = (SELECT day FROM runs WHERE number = ?) AND number <> ? AND number >= ? AND ${isComparable} ORDER BY number`,
    ...[run, run, from],
  );
}

const slices = t.columnsOf({
  ...{ form: t.text<BookingForm>(), batch: t.integer, first: t.integer, bookings: t.integer },
});

function* nextPosted(run: number, [batch = -1, first = -1]: readonly number[]): Query<Slice | undefined> {
  const { stepsBySlice } = yield* database();
  return yield* slices.one(
    `SELECT form, batch, first, bookings FROM ${stepsBySlice}
     WHERE run = ? AND form = 'body' AND (batch, first) > (?, ?) AND kind = 'batch' AND state = 'done'
     ORDER BY batch, first LIMIT 1`,
    ...[run, batch, first],
  );
}

function nextOfFile(run: number, [batch = -1]: readonly number[]): Query<Slice | undefined> {
  return slices.one(
    `SELECT form, batch, 0 AS first, bookings FROM batches WHERE run = ? AND form = 'file' AND batch > ?
       AND EXISTS (SELECT 1 FROM steps WHERE run = ? AND name = 'trigger' AND state = 'done')
     ORDER BY batch LIMIT 1`,
    ...[run, batch, run],
  );
}
