import { yieldToEventLoop } from '../base/event-loop.js';
import { hashReference } from '../booking/booking.js';
import type { ExtraValues } from '../booking/extra-values.js';
import type { BatchStream, GuestNames } from '../booking/sending.js';
import { readBooking } from '../booking/stored-line.js';
import type { Trigger } from '../rules/run.js';
import type { Slice } from '../rules/step.js';
import type { ReadOnlyLedger } from './ledger.js';
import {
  all,
  change,
  database,
  one,
  type Query,
  type Reader,
  reads,
  readsTogether,
  type Sql,
  sql,
  walks,
} from './query.js';
import { isComparable, nameForm, noSuchRun, runNumber, runs } from './runs.js';
import { contextOfBatch, contextOfExtraColumns } from './sealing.js';
import { findReferences, type StayRun, selectStayRuns } from './stays.js';
import { steps } from './steps.js';
import * as t from './table.js';

/** Bookings by batch, as lines of the review file: three times as fast to load as one row per booking. */
export const storedBatches = t.table(
  'batches',
  {
    run: t.numberOf('runs'),
    stream: t.oneOf<BatchStream>('file', 'posted'),
    batch: t.integer,
    bookings: t.integer,
    lines: t.bytes,
  },
  { key: 'run, stream, batch' },
);

export const readBatch = reads(function* (runId: string, stream: BatchStream, batch: number): Query<Buffer> {
  const [lines] = yield* readBatches(runId, stream, { from: batch, to: batch + 1 });
  if (!lines) throw noSuchBatch(stream, batch);
  return lines;
});

/** Several at once, from the first one to the one before `to`: the caller limits how many bookings that may be. */
export const readBatches = reads(function* (
  runId: string,
  stream: BatchStream,
  { from, to }: { readonly from: number; readonly to: number },
): Query<readonly Buffer[]> {
  const read = yield* openBatches(
    sql`run = (SELECT number FROM ${runs} WHERE id = ${runId}) AND stream = ${stream}
      AND batch >= ${from} AND batch < ${to} ORDER BY batch`,
  );
  if (read.length < to - from) {
    yield* runNumber(runId);
    throw noSuchBatch(stream, from + read.length);
  }
  return read.map(({ lines }) => lines);
});

/** One of a run that is known to exist. */
export type BatchKey = readonly [run: number, stream: BatchStream, batch: number];

export const isBatch = ([run, stream, batch]: BatchKey) =>
  sql`run = ${run} AND stream = ${stream} AND batch = ${batch}`;

/** All lines of a batch, in their bytes. */
export function* readStored(...key: BatchKey): Query<Buffer> {
  const [stored] = yield* openBatches(isBatch(key));
  if (!stored) throw noSuchBatch(key[1], key[2]);
  return stored.lines;
}

/** All lines of a batch. */
export function* readLines(...key: BatchKey): Query<string[]> {
  return (yield* readStored(...key)).toString().split('\n');
}

/** The lines of a batch at these rows, in ascending order. */
export function* readLinesAt(key: BatchKey, rows: readonly number[]): Query<string[]> {
  return takeStoredLines(yield* readStored(...key), rows);
}

function* openBatches(condition: Sql) {
  const { sealing } = yield* database();
  const stored = yield* storedBatches.list(sql`WHERE ${condition}`);
  return stored.map(({ run, stream, batch, lines }) => ({
    batch,
    lines: sealing.open(lines, contextOfBatch(run, stream, batch)),
  }));
}

/** Those whose key is gone hold nothing that anybody can read, and are left out. */
export function* openReadable(condition: Sql) {
  const { sealing } = yield* database();
  const stored = yield* storedBatches.list(sql`WHERE ${condition}`);
  return stored.flatMap(({ run, stream, batch, lines }) => {
    const opened = sealing.openIfThere(lines, contextOfBatch(run, stream, batch));
    return opened ? [{ stream, batch, lines: opened }] : [];
  });
}

/** The lines of these batches of the run; a batch that was removed meanwhile, or whose key is gone, is absent. */
export const readReadableBatches = reads(function* (
  { number }: StayRun,
  stream: BatchStream,
  batches: readonly number[],
): Query<Map<number, Buffer>> {
  const { isListed } = yield* database();
  const isWanted = isListed(sql`batch`, batches);
  const read = yield* openReadable(sql`run = ${number} AND stream = ${stream} AND ${isWanted}`);
  return new Map(read.map(({ batch, lines }) => [batch, lines]));
});

/** How many batches and bookings a stream has. */
export const measureBatches = reads(function* (runId: string, stream: BatchStream) {
  const row = yield* one<{ readonly batches: number; readonly bookings: number }>(
    sql`SELECT count(batch) AS batches, coalesce(sum(bookings), 0) AS bookings
     FROM ${runs} LEFT JOIN ${storedBatches} ON run = number AND stream = ${stream}
     WHERE id = ${runId} GROUP BY id`,
  );
  if (!row) throw noSuchRun(runId);
  return row;
});

/** The first and the last batch of each stream that can be read. */
export const sampleBatches = reads(function* (runId: string) {
  const run = yield* runNumber(runId);
  const ends = sql`SELECT stream, min(batch) FROM ${storedBatches} WHERE run = ${run} GROUP BY stream
    UNION SELECT stream, max(batch) FROM ${storedBatches} WHERE run = ${run} GROUP BY stream`;
  return yield* openReadable(sql`run = ${run} AND (stream, batch) IN (${ends})`);
});

function noSuchBatch(stream: BatchStream, batch: number): RangeError {
  return new RangeError(`no ${stream} batch ${batch} in the ledger`);
}

/** A batch as stored in the ledger. */
export interface StoredBatch {
  readonly batch: number;
  /** Each line with its line end. */
  readonly lines: Buffer;
}

/**
 * Some hundred kilobytes: with batches of a few bookings, a query for each would take far longer than the work on it.
 */
const bookingsAtOnce = 2_000;

/**
 * A run's bookings of one stream, in their order, one batch at a time. Lets others work between two queries.
 */
export async function* readStoredBatches(
  ledger: ReadOnlyLedger,
  { id }: { readonly id: string },
  stream: BatchStream,
): AsyncGenerator<StoredBatch, void, undefined> {
  for await (const { from, to } of cutBatches(ledger, id, stream)) {
    const read = await ledger.bookings.readBatches(id, stream, { from, to });
    for (const [index, lines] of read.entries()) yield { batch: from + index, lines };
  }
}

/** The same, without batches whose key is gone. */
export async function* readBatchesWithKey(
  ledger: ReadOnlyLedger,
  run: StayRun,
  stream: BatchStream,
): AsyncGenerator<StoredBatch, void, undefined> {
  for await (const { from, to } of cutBatches(ledger, run.runId, stream)) {
    const wanted = Array.from({ length: to - from }, (_, index) => from + index);
    const read = await ledger.stays.readReadableBatches(run, stream, wanted);
    for (const [batch, lines] of read) yield { batch, lines };
  }
}

async function* cutBatches(ledger: ReadOnlyLedger, runId: string, stream: BatchStream) {
  const { batches, bookings } = await ledger.bookings.measureBatches(runId, stream);
  const atOnce = Math.max(1, Math.floor(bookingsAtOnce / Math.ceil(bookings / batches)));
  // The first one alone: some callers want only the first lines.
  for (let from = 0, to = 1; from < batches; from = to, to += atOnce) {
    if (from > 0) await yieldToEventLoop();
    yield { from, to: Math.min(to, batches) };
  }
}

/** The lines of a batch, without their line ends. */
export function splitStoredLines(lines: Buffer): string[] {
  return lines.toString().split('\n').slice(0, -1);
}

const lineFeed = 0x0a;

/**
 * The lines at some rows of a batch, without their line ends.
 *
 * @param rows ascending
 */
export function takeStoredLines(lines: Buffer, rows: readonly number[]): string[] {
  const taken: string[] = [];
  let start = 0;
  let passed = 0;
  for (const row of rows) {
    for (; passed < row; passed += 1) start = lines.indexOf(lineFeed, start) + 1;
    taken.push(lines.toString('utf8', start, lines.indexOf(lineFeed, start)));
  }
  return taken;
}

/** The rows in each batch, for positions in a run. */
export function groupByBatch(positions: readonly number[], batchSize: number): ReadonlyMap<number, number[]> {
  const batches = new Map<number, number[]>();
  for (const position of positions) {
    const batch = Math.floor(position / batchSize);
    const rows = batches.get(batch);
    if (rows) rows.push(position % batchSize);
    else batches.set(batch, [position % batchSize]);
  }
  return batches;
}

/**
 * The lines of a slice, each with its line end, as a view into its stored batch.
 *
 * @throws RangeError when the batch has fewer lines
 */
export function sliceLines(lines: Buffer, { first, bookings }: Pick<Slice, 'first' | 'bookings'>): Buffer {
  const start = skipLines(lines, 0, first);
  return lines.subarray(start, skipLines(lines, start, bookings));
}

function skipLines(lines: Buffer, from: number, count: number): number {
  let at = from;
  for (let skipped = 0; skipped < count; skipped += 1) {
    at = lines.indexOf(lineFeed, at) + 1;
    if (at === 0) throw new RangeError('a stored batch has fewer bookings than its step');
  }
  return at;
}

/** An opaque position in what other runs have delivered. */
export type DeliveredCursor = string & { readonly ofDelivered: unique symbol };

export interface DeliveredLines {
  readonly cursor: DeliveredCursor;
  readonly stream: BatchStream;
  /** Of the run that delivered them. */
  readonly trigger: Trigger;
  /** Whether the lines have names. */
  readonly guestNames: GuestNames;
  /** Each ended by a line feed. */
  readonly lines: Buffer;
}

/**
 * What other runs of the same day's bookings have delivered: the next chunk after the cursor, one stored batch per chunk;
 * undefined at the end. Where guest names were blanked, only what runs of trigger `today` delivered, without names.
 *
 * It lists the slices of batches that are done, and every batch of a file whose by-file call was accepted. The cursor is a
 * position in that list, by run, stream, batch and first booking.
 */
export const nextDelivered = readsTogether(function* (
  runId: string,
  after?: DeliveredCursor,
): Query<DeliveredLines | undefined> {
  const run = yield* runNumber(runId);
  const [afterRun, afterStream, ...afterPosition] = after?.split(' ') ?? ['-1'];
  for (const { number: other, trigger, guestNames } of yield* listOthers(run, Number(afterRun))) {
    const position = other === Number(afterRun) ? afterPosition.map(Number) : [];
    const slice =
      (afterStream === 'file' && position.length > 0 ? undefined : yield* nextPosted(other, position)) ??
      (yield* nextOfFile(other, afterStream === 'file' ? position : []));
    if (!slice) continue;
    const { stream, batch, first } = slice;
    return {
      cursor: [other, stream, batch, first].join(' ') as DeliveredCursor,
      stream,
      trigger,
      guestNames,
      lines: sliceLines(yield* readStored(other, stream, batch), slice),
    };
  }
  return undefined;
});

const listOthers = (run: number, from: number) =>
  all<{ readonly number: number; readonly trigger: Trigger; readonly guestNames: GuestNames }>(
    sql`SELECT number, trigger, ${nameForm} AS guest_names FROM ${runs}
     WHERE day = (SELECT day FROM ${runs} WHERE number = ${run}) AND number <> ${run} AND number >= ${from}
       AND ${isComparable} ORDER BY number`,
  );

function nextPosted(run: number, [batch = -1, first = -1]: readonly number[]): Query<Slice | undefined> {
  return one(
    sql`SELECT stream, batch, first, bookings FROM ${steps}
     WHERE run = ${run} AND stream = 'posted' AND (batch, first) > (${batch}, ${first})
       AND kind = 'batch' AND state = 'done'
     ORDER BY batch, first LIMIT 1`,
  );
}

function nextOfFile(run: number, [batch = -1]: readonly number[]): Query<Slice | undefined> {
  return one(
    sql`SELECT stream, batch, 0 AS first, bookings FROM ${storedBatches}
     WHERE run = ${run} AND stream = 'file' AND batch > ${batch}
       AND EXISTS (SELECT 1 FROM ${steps} WHERE run = ${run} AND name = 'trigger' AND state = 'done')
     ORDER BY batch LIMIT 1`,
  );
}

/** Columns of the source that are kept beside the lines of a batch, but not sent. */
export const extraColumns = t.table(
  'extra_columns',
  { run: t.numberOf('runs'), stream: t.text<BatchStream>(), batch: t.integer, columns: t.bytes },
  { key: 'run, stream, batch' },
);

/** As they are stored, but not sealed. */
export const writeExtraColumns = (columns: ExtraColumns): Buffer => Buffer.from(JSON.stringify(columns));

/** The extra columns of a batch of a run that is known to exist. */
export function* readExtraOfBatch(...key: BatchKey): Query<ExtraColumns | undefined> {
  const { sealing } = yield* database();
  const stored = yield* extraColumns.find(sql`WHERE ${isBatch(key)}`);
  // An empty one was blanked.
  if (!stored || stored.columns.length === 0) return undefined;
  const opened = sealing.open(stored.columns, contextOfExtraColumns(...key));
  return JSON.parse(opened.toString()) as ExtraColumns;
}

/** The extra columns of a stored batch; undefined if there are none, or no longer. */
export const readExtra = readsTogether(function* (
  runId: string,
  stream: BatchStream,
  batch: number,
): Query<ExtraColumns | undefined> {
  return yield* readExtraOfBatch(yield* runNumber(runId), stream, batch);
});

/** The extra values of the bookings with these references, each of the newest run that has them. */
export const findExtra = walks(
  async ({ read }: Reader, references: readonly string[]): Promise<ReadonlyMap<string, ExtraValues>> => {
    const found = new Map<string, ExtraValues>();
    const missing = new Map(references.map((reference) => [reference, hashReference(reference)]));
    let hashes = new Uint32Array();
    for (const run of missing.size > 0 ? await read(() => listRunsWithExtra()) : []) {
      // Over a long period, most runs have none of them.
      if (hashes.length !== missing.size) hashes = Uint32Array.from(new Set(missing.values())).sort();
      for (const { stream, positions } of await read(() => findReferences(run, hashes)))
        for (const [batch, rows] of groupByBatch(positions, run.batchSize))
          for (const [reference, extraValues] of await read(() => extraOf([run.number, stream, batch], rows)))
            if (missing.delete(reference)) found.set(reference, extraValues);
      if (missing.size === 0) break;
    }
    return found;
  },
);

/** Runs whose extra columns are not blanked, newest first. */
const listRunsWithExtra = () =>
  selectStayRuns(
    sql`AND EXISTS (SELECT 1 FROM ${extraColumns} WHERE run = number AND length(columns) > 0) ORDER BY number DESC`,
  );

/** Compares references: a hash alone is no proof. None if the batch can no longer be decrypted. */
function* extraOf(
  key: BatchKey,
  rows: readonly number[],
): Query<[reference: string, extraValues: ExtraValues][]> {
  const [stored] = yield* openReadable(isBatch(key));
  if (!stored) return [];
  const columns = yield* readExtraOfBatch(...key);
  return rows.flatMap((row) => {
    const extraValues = extraAt(columns, row);
    if (!extraValues) return [];
    const [line = ''] = takeStoredLines(stored.lines, [row]);
    const reference = readBooking(line).bookingReferenceId;
    return reference === undefined ? [] : [[reference, extraValues]];
  });
}

/** Erases the extra values of the bookings at these rows of a batch. */
export function* eraseExtraOfBatch(day: string, key: BatchKey, rows: readonly number[]): Query<void> {
  const { sealing, lock } = yield* database();
  const stored = yield* extraColumns.find(sql`WHERE ${isBatch(key)} ${lock}`);
  const erased = eraseExtraAt(yield* readExtraOfBatch(...key), rows);
  if (!stored || !erased) return;
  const context = contextOfExtraColumns(...key);
  const columns = sealing.sealLike(stored.columns, day, writeExtraColumns(erased), context);
  yield* change(sql`UPDATE ${extraColumns} SET columns = ${columns} WHERE ${isBatch(key)}`);
}

export function* blankExtraColumns(run: number): Query<void> {
  yield* change(
    sql`UPDATE ${extraColumns} SET columns = ${Buffer.alloc(0)} WHERE run = ${run} AND length(columns) > 0`,
  );
}

/**
 * The extra columns (`source.keep`) of the lines of a chunk or of a stored batch. Plain data, to be sent between
 * threads.
 */
export interface ExtraColumns {
  readonly labels: readonly string[];
  /** By the line's row: its values in the order of the labels, null for a missing one; null if it has none. */
  readonly rows: readonly ExtraRow[];
}

export type ExtraRow = readonly (string | null)[] | null;

/** The values of the booking at that row; undefined if it has none. */
export function extraAt(columns: ExtraColumns | undefined, row: number): ExtraValues | undefined {
  const cells = columns?.rows[row];
  if (!columns || !cells) return undefined;
  const values = columns.labels.flatMap((label, index) => {
    const value = cells[index];
    return typeof value === 'string' ? [[label, value] as const] : [];
  });
  return values.length > 0 ? Object.fromEntries(values) : undefined;
}

/** The same columns without the values of the bookings at these rows; undefined if those have none. */
export function eraseExtraAt(
  columns: ExtraColumns | undefined,
  rows: readonly number[],
): ExtraColumns | undefined {
  if (!columns || rows.every((row) => !columns.rows[row])) return undefined;
  return { ...columns, rows: columns.rows.map((cells, row) => (rows.includes(row) ? null : cells)) };
}
