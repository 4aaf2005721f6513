import type { BatchStream } from '../booking/sending.js';
import { readLinesAt } from './batches.js';
import type { CollectedBatch } from './collecting.js';
import { type Query, readsTogether, sql } from './query.js';
import { runNumber } from './runs.js';
import * as t from './table.js';

/** `other-master`: in the copy it is another master hotel. `moved`: its mapping changed in the last few days. */
export type SuspectReason = 'other-master' | 'moved';

const suspect = {
  /** Among the batch's lines, counted from 0. */
  row: t.integer,
  reason: t.oneOf<SuspectReason>('other-master', 'moved'),
  /** The master hotel of its provider's hotel in the copy; absent if the mapping was deleted. */
  serviceId: t.optional(t.bigint),
  /** When the mapping moved, epoch milliseconds; absent if it never did. */
  movedAt: t.optional(t.bigint),
};
const plainSuspects = t.columnsOf(suspect);
export const suspects = t.table(
  'suspects',
  { run: t.numberOf('runs'), stream: t.text<BatchStream>(), batch: t.integer, ...suspect },
  { key: 'run, stream, batch, row', isItsIndex: true },
);
/** A booking that was flagged by comparing it with the local copy of the mappings. It is sent anyway. */
export type Suspect = t.Row<typeof plainSuspects>;

export interface SuspectLines {
  readonly cursor: { readonly stream: BatchStream; readonly batch: number };
  readonly stream: BatchStream;
  /** In the order of their rows. */
  readonly suspects: readonly (Suspect & { readonly line: string })[];
}

export function* storeSuspects(run: number, batches: readonly CollectedBatch[]): Query<void> {
  yield* suspects.insert(
    batches.flatMap(({ stream, number: batch, suspects = [] }) =>
      suspects.map((suspect) => ({ run, stream, batch, ...suspect })),
    ),
  );
}

/** The next chunk of the run's suspects after the cursor, one stored batch per chunk; undefined at the end. */
export const nextSuspects = readsTogether(function* (
  runId: string,
  after?: SuspectLines['cursor'],
): Query<SuspectLines | undefined> {
  const run = yield* runNumber(runId);
  const found = yield* suspects.list(
    sql`WHERE run = ${run} AND (stream, batch) = (
       SELECT stream, batch FROM ${suspects} WHERE run = ${run} AND (stream, batch) > (${after?.stream ?? ''}, ${after?.batch ?? -1})
       ORDER BY stream, batch LIMIT 1
     ) ORDER BY row`,
  );
  const [first] = found;
  if (!first) return undefined;
  const { stream, batch } = first;
  const rows = found.map(({ row }) => row);
  const lines = yield* readLinesAt([run, stream, batch], rows);
  return {
    cursor: { stream, batch },
    stream,
    suspects: found.map(({ run, stream, batch, ...suspect }, index) => ({
      ...suspect,
      line: lines[index] ?? '',
    })),
  };
});

export function findSuspect(
  run: number,
  stream: BatchStream,
  batch: number,
  row: number,
): Query<Suspect | undefined> {
  return plainSuspects.one(
    sql`SELECT * FROM ${suspects} WHERE run = ${run} AND stream = ${stream} AND batch = ${batch} AND row = ${row}`,
  );
}
