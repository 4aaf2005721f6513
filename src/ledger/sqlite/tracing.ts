import type { ReasonCount, RejectCode } from '../../review/collected.js';
import type { Attempt, RefusedBooking, Trace } from '../../review/history.js';
import type { BookingForm, StepState } from '../../review/step.js';
import { toAttempt } from '../stored-run.js';
import { withoutUndefined } from '../stored-values.js';
import { readBatch } from './collecting.js';
import type { Database, Row } from './database.js';
import { findSuspect, isAffected } from './findings.js';
import { findPositions } from './reference-index.js';
import { readRun } from './runs.js';

/** Everything the ledger knows about a booking reference, newest run first. */
export function trace(
  database: Database,
  reference: string,
  carries: (line: string, form: BookingForm) => boolean,
): Trace[] {
  const runs = database.all(
    'SELECT number, batch_size FROM runs WHERE batch_size IS NOT NULL AND pruned_at IS NULL ORDER BY number DESC',
  );
  return runs.flatMap(({ number, batch_size }) => [
    ...traceBookings(database, Number(number), Number(batch_size), reference, carries),
    ...traceRejects(database, Number(number), reference),
  ]);
}

function traceBookings(
  database: Database,
  run: number,
  batchSize: number,
  reference: string,
  carries: (line: string, form: BookingForm) => boolean,
): Trace[] {
  const traces: Trace[] = [];
  for (const form of ['body', 'file'] as const) {
    for (const position of findPositions(database, run, form, reference)) {
      const batch = Math.floor(position / batchSize);
      const first = position % batchSize;
      const line = readBatch(database, run, form, batch).toString().split('\n')[first];
      if (line === undefined || !carries(line, form)) continue;
      const steps = stepsThatCarry(database, run, form, batch, first);
      const step = steps.at(-1);
      const found = readRun(database, run);
      traces.push(
        withoutUndefined({
          kind: 'booking' as const,
          run: found,
          form,
          isAffected:
            form === 'file' && found.file?.verdicts ? isAffected(database, run, batch, first) : undefined,
          line,
          suspect: findSuspect(database, run, form, batch, first),
          step: step && {
            name: String(step.name),
            kind: String(step.kind) as 'batch',
            state: String(step.state) as StepState,
          },
          attempts: steps.flatMap((row) => attemptsOf(database, run, String(row.name))),
        }) as Trace,
      );
    }
  }
  return traces;
}

/** From the whole batch down to the half that contains the booking now; a booking in the file belongs to the by-file call. */
function stepsThatCarry(
  database: Database,
  run: number,
  form: BookingForm,
  batch: number,
  first: number,
): Row[] {
  if (form === 'file') return database.all(`SELECT * FROM steps WHERE run = ? AND name = 'trigger'`, run);
  return database.all(
    `SELECT * FROM steps WHERE run = ? AND form = ? AND batch = ? AND first <= ? AND first + bookings > ?
     ORDER BY bookings DESC`,
    run,
    form,
    batch,
    first,
    first,
  );
}

export function attemptsOf(database: Database, run: number, step: string): Attempt[] {
  const rows = database.all('SELECT * FROM attempts WHERE run = ? AND step = ? ORDER BY attempt', run, step);
  return rows.map(toAttempt);
}

function traceRejects(database: Database, run: number, reference: string): Trace[] {
  const rows = database.all(
    'SELECT place, reason FROM rejects WHERE reference = ? AND run = ?',
    reference,
    run,
  );
  return rows.map((row) => ({
    kind: 'reject',
    run: readRun(database, run),
    place: Number(row.place),
    reason: String(row.reason) as RejectCode,
  }));
}

export function listRefused(database: Database, run: number, limit: number): RefusedBooking[] {
  const rows = database.all(
    `SELECT name, form, batch, first, last_code FROM steps
     WHERE run = ? AND state = 'refused' AND form IS NOT NULL ORDER BY position, name LIMIT ?`,
    run,
    limit,
  );
  return rows.map((row) => {
    const form = String(row.form) as BookingForm;
    const lines = readBatch(database, run, form, Number(row.batch)).toString().split('\n');
    return {
      step: String(row.name),
      code: String(row.last_code),
      form,
      line: lines[Number(row.first)] ?? '',
    };
  });
}

export function countRejects(database: Database, run: number): ReasonCount[] {
  return toReasonCounts(
    database.all(
      `SELECT reason, count(*) AS count, min(place) AS first_place FROM rejects WHERE run = ? GROUP BY reason
       ORDER BY count(*) DESC, reason`,
      run,
    ),
  );
}

export function countWarnings(database: Database, run: number): ReasonCount[] {
  return toReasonCounts(
    database.all(
      'SELECT reason, count, first_place FROM warnings WHERE run = ? ORDER BY count DESC, reason',
      run,
    ),
  );
}

function toReasonCounts(rows: readonly Row[]): ReasonCount[] {
  return rows.map((row) => ({
    reason: String(row.reason) as ReasonCount['reason'],
    count: Number(row.count),
    ...(row.first_place === null ? {} : { firstPlace: Number(row.first_place) }),
  }));
}
