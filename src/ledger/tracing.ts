import type { ReasonCount, Reject, RejectCode } from '../review/collected.js';
import type { Attempt, RefusedBooking, StepTime, Trace } from '../review/history.js';
import { keptAt } from '../review/kept-columns.js';
import type { Run } from '../review/run.js';
import type { BookingForm, StepKind, StepState } from '../review/step.js';
import { readBooking } from '../review/stored/stored-line.js';
import { readLines } from './batches.js';
import { findJudged, findSuspect } from './findings.js';
import { readKeptOfBatch } from './kept-columns.js';
import { findNaming, findNamingMapping } from './mail-bookings.js';
import { all, type Candidates, type Dialect, type Query } from './query.js';
import { readRun, runNumber } from './runs.js';
import { placeOfReject } from './sealing.js';
import { toAttempt } from './stored-run.js';
import { readColumns, type StoredRow, toStorable, withoutUndefined } from './stored-values.js';

type Carries = (line: string, form: BookingForm) => boolean;

/** Everything the ledger knows about a booking reference, newest run first. */
export function* trace(dialect: Dialect, reference: string, carries: Carries): Query<Trace[]> {
  const found: { readonly run: number; readonly trace: Trace }[] = [];
  for (const candidates of yield* dialect.findCandidates(reference)) {
    for (const trace of yield* traceBookings(dialect, candidates, carries))
      found.push({ run: candidates.run, trace });
  }
  for (const reject of yield* traceRejects(dialect, reference)) found.push(reject);
  // The sort is stable: within a run bookings stay before rejects.
  return found.sort((a, b) => b.run - a.run).map(({ trace }) => trace);
}

function* traceBookings(
  dialect: Dialect,
  { run, form, batchSize, positions }: Candidates,
  carries: Carries,
): Query<Trace[]> {
  const traces: Trace[] = [];
  const found = yield* readRun(dialect, run);
  let current: { readonly batch: number; readonly lines: readonly string[] } | undefined;
  for (const position of positions) {
    const batch = Math.floor(position / batchSize);
    const first = position % batchSize;
    if (current?.batch !== batch) current = { batch, lines: yield* readLines(dialect, run, form, batch) };
    const line = current.lines[first];
    if (line === undefined || !carries(line, form)) continue;
    const steps = yield* stepsThatCarry(dialect, run, form, batch, first);
    const step = steps.at(-1);
    const attempts: Attempt[] = [];
    for (const { name } of steps)
      for (const attempt of yield* attemptsOf(dialect, run, found.id, String(name))) attempts.push(attempt);
    traces.push(
      withoutUndefined({
        kind: 'booking' as const,
        run: found,
        form,
        batch,
        position,
        judged: form === 'file' ? yield* findJudged(dialect, run, batch, first) : undefined,
        line,
        namedByEmailAt: yield* findNaming(dialect, run, form, batch, first),
        mappingNamedByEmailAt: yield* findMappingNamed(dialect, found, line, form),
        suspect: yield* findSuspect(dialect, run, form, batch, first),
        kept: keptAt(yield* readKeptOfBatch(dialect, run, form, batch), first),
        step: step && {
          name: String(step.name),
          kind: String(step.kind) as 'batch',
          state: String(step.state) as StepState,
        },
        attempts,
      }) as Trace,
    );
  }
  return traces;
}

function* findMappingNamed(
  dialect: Dialect,
  { startedAt: sentAfter }: Run,
  line: string,
  form: BookingForm,
): Query<number | undefined> {
  const { providerName, providerHotelId, serviceId, checkInDate: checkIn } = readBooking(line, form);
  if (providerName === undefined || providerHotelId === undefined) return undefined;
  const pair = { providerName, providerHotelId, serviceId };
  return yield* findNamingMapping(dialect, pair, { sentAfter, checkIn });
}

/** From the whole batch down to the half that contains the booking now; a booking in the file belongs to the by-file call. */
function stepsThatCarry(
  { schema }: Dialect,
  run: number,
  form: BookingForm,
  batch: number,
  first: number,
): Query<readonly StoredRow[]> {
  if (form === 'file') return all(`SELECT * FROM ${schema}steps WHERE run = ? AND name = 'trigger'`, run);
  return all(
    `SELECT * FROM ${schema}steps
     WHERE run = ? AND form = ? AND batch = ? AND first <= ? AND first + bookings > ? ORDER BY bookings DESC`,
    run,
    form,
    batch,
    first,
    first,
  );
}

function* traceRejects(
  dialect: Dialect,
  reference: string,
): Query<{ readonly run: number; readonly trace: Trace }[]> {
  const { sql, values } = dialect.isReference(reference);
  const rows = yield* all(
    `SELECT run, place, reason, field, value FROM ${dialect.schema}rejects WHERE ${sql} ORDER BY run DESC, place`,
    ...values,
  );
  const traces: { run: number; trace: Trace }[] = [];
  for (const row of rows) {
    const run = Number(row.run);
    const { text } = readColumns(row);
    const trace = withoutUndefined({
      kind: 'reject' as const,
      run: yield* readRun(dialect, run),
      place: Number(row.place),
      reason: String(row.reason) as RejectCode,
      field: text('field'),
      value: dialect.sealing.openText(text('value'), placeOfReject(run, Number(row.place))),
    });
    traces.push({ run, trace });
  }
  return traces;
}

export function* listAttempts(dialect: Dialect, runId: string, step: string): Query<Attempt[]> {
  return yield* attemptsOf(dialect, yield* runNumber(dialect, runId), runId, step);
}

export function* listStepTimes({ schema }: Dialect, runId: string): Query<StepTime[]> {
  const rows = yield* all(
    `SELECT kind, count(DISTINCT name) AS steps, count(*) AS attempts, min(started_at) AS started, max(attempts.ended_at) AS ended
     FROM ${schema}attempts AS attempts JOIN ${schema}steps AS steps ON steps.run = attempts.run AND steps.name = attempts.step
     WHERE attempts.run = (SELECT number FROM ${schema}runs WHERE id = ?)
     GROUP BY kind ORDER BY started, ended`,
    runId,
  );
  return rows.map(({ kind, steps, attempts, started, ended }) => ({
    kind: String(kind) as StepKind,
    steps: Number(steps),
    attempts: Number(attempts),
    startedAt: Number(started),
    endedAt: Number(ended),
  }));
}

function* attemptsOf(
  { schema, sealing }: Dialect,
  run: number,
  runId: string,
  step: string,
): Query<Attempt[]> {
  const rows = yield* all(
    `SELECT * FROM ${schema}attempts WHERE run = ? AND step = ? ORDER BY attempt`,
    run,
    step,
  );
  return rows.map((row) => toAttempt(row, runId, sealing));
}

export function* listAnswers(dialect: Dialect, runId: string, names: readonly string[]): Query<Attempt[]> {
  const { schema, sealing } = dialect;
  const listed = dialect.isListed('steps.name', names);
  const rows = yield* all(
    `SELECT attempts.* FROM ${schema}steps AS steps JOIN ${schema}attempts AS attempts
       ON attempts.run = steps.run AND attempts.step = steps.name AND attempts.attempt = steps.attempts
     WHERE steps.run = ? AND ${listed.sql} AND answer IS NOT NULL ORDER BY position, name`,
    yield* runNumber(dialect, runId),
    ...listed.values,
  );
  return rows.map((row) => toAttempt(row, runId, sealing));
}

export function* listRefused(
  dialect: Dialect,
  runId: string,
  limit: number,
  skip: number,
): Query<RefusedBooking[]> {
  const run = yield* runNumber(dialect, runId);
  const rows = yield* all(
    `SELECT name, form, batch, first, last_code FROM ${dialect.schema}steps
     WHERE run = ? AND state = 'refused' AND form IS NOT NULL ORDER BY position, name LIMIT ? OFFSET ?`,
    run,
    limit,
    skip,
  );
  const refused: RefusedBooking[] = [];
  let current:
    | { readonly form: BookingForm; readonly batch: number; readonly lines: readonly string[] }
    | undefined;
  for (const row of rows) {
    const form = String(row.form) as BookingForm;
    const batch = Number(row.batch);
    const place = Number(row.first);
    // The bookings of a batch stand together.
    if (current?.form !== form || current.batch !== batch)
      current = { form, batch, lines: yield* readLines(dialect, run, form, batch) };
    const line = current.lines[place] ?? '';
    refused.push({ step: String(row.name), code: String(row.last_code), form, batch, place, line });
  }
  return refused;
}

export function* countRejects(dialect: Dialect, runId: string): Query<ReasonCount[]> {
  const rows = yield* all(
    `SELECT reason, count(*) AS count, min(place) AS first_place FROM ${dialect.schema}rejects WHERE run = ?
     GROUP BY reason`,
    yield* runNumber(dialect, runId),
  );
  return toReasonCounts(rows);
}

export function* listRejects(
  dialect: Dialect,
  runId: string,
  limit: number,
  { reason, skip = 0 }: { readonly reason?: string | undefined; readonly skip?: number } = {},
): Query<Reject[]> {
  const run = yield* runNumber(dialect, runId);
  const rows = yield* all(
    `SELECT place, reason, reference, field, value FROM ${dialect.schema}rejects
     WHERE run = ? ${reason === undefined ? '' : 'AND reason = ?'} ORDER BY place LIMIT ? OFFSET ?`,
    run,
    ...(reason === undefined ? [] : [toStorable(reason)]),
    limit,
    skip,
  );
  return rows.map((row) => {
    const { text } = readColumns(row);
    return withoutUndefined({
      place: Number(row.place),
      reason: String(row.reason) as RejectCode,
      reference: text('reference'),
      field: text('field'),
      value: dialect.sealing.openText(text('value'), placeOfReject(run, Number(row.place))),
    });
  });
}

export function* countWarnings(dialect: Dialect, runId: string): Query<ReasonCount[]> {
  const rows = yield* all(
    `SELECT reason, count, first_place FROM ${dialect.schema}warnings WHERE run = ?`,
    yield* runNumber(dialect, runId),
  );
  return toReasonCounts(rows);
}

/** The most frequent first. Sorted here: a database may compare texts by its own collation. */
function toReasonCounts(rows: readonly StoredRow[]): ReasonCount[] {
  return rows
    .map((row) => ({
      reason: String(row.reason) as ReasonCount['reason'],
      count: Number(row.count),
      ...(row.first_place === null ? {} : { firstPlace: Number(row.first_place) }),
    }))
    .sort((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1));
}
