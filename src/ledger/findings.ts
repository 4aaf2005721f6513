import { readLinesAt } from './batches.js';
import type { CollectedBatch, Suspect, SuspectReason } from './collecting.js';
import { all, change, insert, one, type Query } from './query.js';
import { runNumber } from './runs.js';
import type { BookingForm } from './step.js';
import { readColumns, type StoredRow, withoutUndefined } from './stored-values.js';
import type { BatchCursor, JudgedLines, SuspectLines } from './tracing.js';

export function* storeSuspects(run: number, batches: readonly CollectedBatch[]): Query<void> {
  const rows = batches.flatMap(({ form, number, suspects = [] }) =>
    suspects.map(({ place, reason, serviceId, movedAt }) => [
      ...[run, form, number, place, reason],
      ...[serviceId ?? null, movedAt ?? null],
    ]),
  );
  if (rows.length === 0) return;
  const columns = {
    ...({ run: 'bigint', form: 'text', batch: 'integer', place: 'integer', reason: 'text' } as const),
    ...({ service_id: 'bigint', moved_at: 'bigint' } as const),
  };
  yield* insert('suspects', columns, rows);
}

export function* nextSuspects(runId: string, after?: BatchCursor): Query<SuspectLines | undefined> {
  const run = yield* runNumber(runId);
  const rows = yield* all(
    `SELECT * FROM suspects WHERE run = ? AND (form, batch) = (
       SELECT form, batch FROM suspects WHERE run = ? AND (form, batch) > (?, ?)
       ORDER BY form, batch LIMIT 1
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
  const suspects = rows.map(toSuspect);
  const places = suspects.map(({ place }) => place);
  const lines = yield* readLinesAt(run, form, batch, places);
  return {
    cursor: { form, batch },
    form,
    suspects: suspects.map((suspect, index) => ({ ...suspect, line: lines[index] ?? '' })),
  };
}

export function* findSuspect(
  run: number,
  form: BookingForm,
  batch: number,
  place: number,
): Query<Suspect | undefined> {
  const row = yield* one(
    `SELECT * FROM suspects WHERE run = ? AND form = ? AND batch = ? AND place = ?`,
    run,
    form,
    batch,
    place,
  );
  return row && toSuspect(row);
}

/** Records what the result says about the bookings of the file, in place of what was recorded before. */
export function* replaceVerdicts(run: number, verdicts: readonly JudgedPlaces[]): Query<void> {
  yield* change(`DELETE FROM verdicts WHERE run = ?`, run);
  yield* insert(
    'verdicts',
    { run: 'bigint', batch: 'integer', judged: 'text', places: 'bytes' },
    verdicts.map(({ batch, judged, places }) => [run, batch, judged, packPlaces(places)]),
  );
}

export function* nextJudged(runId: string, judged: Judged, after = -1): Query<JudgedLines | undefined> {
  const run = yield* runNumber(runId);
  const row = yield* one(
    `SELECT batch, places FROM verdicts
     WHERE run = ? AND judged = ? AND batch > ? ORDER BY batch LIMIT 1`,
    run,
    judged,
    after,
  );
  if (!row) return undefined;
  const batch = Number(row.batch);
  const places = unpackPlaces(row.places as Buffer);
  return { batch, places, lines: yield* readLinesAt(run, 'file', batch, places) };
}

export function* findJudged(run: number, batch: number, place: number): Query<Judged | undefined> {
  const rows = yield* all(`SELECT judged, places FROM verdicts WHERE run = ? AND batch = ?`, run, batch);
  const row = rows.find(({ places }) => unpackPlaces(places as Buffer).includes(place));
  return row && (String(row.judged) as Judged);
}

/** Packs places of a batch as 16-bit little-endian numbers. */
function packPlaces(places: readonly number[]): Buffer {
  const packed = Buffer.alloc(2 * places.length);
  for (const [index, place] of places.entries()) packed.writeUInt16LE(place, 2 * index);
  return packed;
}

function unpackPlaces(packed: Buffer): number[] {
  return Array.from({ length: packed.length / 2 }, (_, index) => packed.readUInt16LE(2 * index));
}

/** Reads a row of the table of suspects. */
function toSuspect(row: StoredRow): Suspect {
  const { integer } = readColumns(row);
  return withoutUndefined({
    place: Number(row.place),
    reason: String(row.reason) as SuspectReason,
    serviceId: integer('service_id'),
    movedAt: integer('moved_at'),
  });
}

/** Why a booking of the file has no verdict although its result is known. */
export const unansweredReasons = ['not-in-result', 'unclear'] as const;

/** What the result says about a booking of the file, unless it calls the mapping correct. */
export type Judged = 'incorrect' | (typeof unansweredReasons)[number];

/** Bookings of one batch of the file about which the result says the same. */
export interface JudgedPlaces {
  readonly batch: number;
  readonly judged: Judged;
  /** Counted from 0, ascending. */
  readonly places: readonly number[];
}
