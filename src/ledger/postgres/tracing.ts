import type { ReasonCount, RejectCode } from '../../review/collected.js';
import type { RefusedBooking, Trace } from '../../review/history.js';
import type { BookingForm, StepState } from '../../review/step.js';
import { unpackPlaces } from '../stored-findings.js';
import { type StoredRow, withoutUndefined } from '../stored-values.js';
import { readLines } from './batches.js';
import { findSuspect } from './findings.js';
import { type Candidates, findCandidates } from './references.js';
import { readRun, runNumber } from './runs.js';
import type { Session } from './session.js';
import { attemptsOf } from './steps.js';

type Carries = (line: string, form: BookingForm) => boolean;

/** Everything the ledger knows about a booking reference, newest run first. */
export async function trace(session: Session, reference: string, carries: Carries): Promise<Trace[]> {
  const found: { readonly run: number; readonly trace: Trace }[] = [];
  for (const candidates of await findCandidates(session, reference)) {
    for (const trace of await traceBookings(session, candidates, carries))
      found.push({ run: candidates.run, trace });
  }
  found.push(...(await traceRejects(session, reference)));
  // The sort is stable: within a run bookings stay before rejects.
  return found.sort((a, b) => b.run - a.run).map(({ trace }) => trace);
}

async function traceBookings(
  session: Session,
  { run, form, batchSize, positions }: Candidates,
  carries: Carries,
): Promise<Trace[]> {
  const traces: Trace[] = [];
  const found = await readRun(session, run);
  let current: { readonly batch: number; readonly lines: readonly string[] } | undefined;
  for (const position of positions) {
    const batch = Math.floor(position / batchSize);
    const first = position % batchSize;
    if (current?.batch !== batch) current = { batch, lines: await readLines(session, run, form, batch) };
    const line = current.lines[first];
    if (line === undefined || !carries(line, form)) continue;
    const steps = await stepsThatCarry(session, run, form, batch, first);
    const step = steps.at(-1);
    const attempts = [];
    for (const { name } of steps) attempts.push(...(await attemptsOf(session, run, String(name))));
    traces.push(
      withoutUndefined({
        kind: 'booking' as const,
        run: found,
        form,
        isAffected:
          form === 'file' && found.file?.verdicts ? await isAffected(session, run, batch, first) : undefined,
        line,
        suspect: await findSuspect(session, run, form, batch, first),
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

/** From the whole batch down to the half that contains the booking now; a booking in the file belongs to the by-file call. */
function stepsThatCarry(
  session: Session,
  run: number,
  form: BookingForm,
  batch: number,
  first: number,
): Promise<StoredRow[]> {
  if (form === 'file') {
    return session.rows(`SELECT * FROM hotel_review.steps WHERE run = $1 AND name = 'trigger'`, run);
  }
  return session.rows(
    `SELECT * FROM hotel_review.steps
     WHERE run = $1 AND form = $2 AND batch = $3 AND first <= $4 AND first + bookings > $4 ORDER BY bookings DESC`,
    run,
    form,
    batch,
    first,
  );
}

async function isAffected(session: Session, run: number, batch: number, place: number): Promise<boolean> {
  const row = await session.row(
    'SELECT places FROM hotel_review.affected WHERE run = $1 AND batch = $2',
    run,
    batch,
  );
  return row !== undefined && unpackPlaces(row.places as Buffer).includes(place);
}

async function traceRejects(session: Session, reference: string): Promise<{ run: number; trace: Trace }[]> {
  const rows = await session.rows(
    `SELECT run, place, reason FROM hotel_review.rejects
     WHERE left(reference, 200) = left($1, 200) AND reference = $1 ORDER BY run DESC, place`,
    reference,
  );
  const traces: { run: number; trace: Trace }[] = [];
  for (const row of rows) {
    const run = Number(row.run);
    const trace: Trace = {
      kind: 'reject',
      run: await readRun(session, run),
      place: Number(row.place),
      reason: String(row.reason) as RejectCode,
    };
    traces.push({ run, trace });
  }
  return traces;
}

export async function listRefused(session: Session, runId: string, limit: number): Promise<RefusedBooking[]> {
  const run = await runNumber(session, runId);
  const rows = await session.rows(
    `SELECT name, form, batch, first, last_code FROM hotel_review.steps
     WHERE run = $1 AND state = 'refused' AND form IS NOT NULL ORDER BY position, name LIMIT $2`,
    run,
    limit,
  );
  const refused: RefusedBooking[] = [];
  for (const row of rows) {
    const form = String(row.form) as BookingForm;
    const lines = await readLines(session, run, form, Number(row.batch));
    refused.push({
      step: String(row.name),
      code: String(row.last_code),
      form,
      line: lines[Number(row.first)] ?? '',
    });
  }
  return refused;
}

export async function countRejects(session: Session, runId: string): Promise<ReasonCount[]> {
  const run = await runNumber(session, runId);
  return toReasonCounts(
    await session.rows(
      `SELECT reason, count(*) AS count, min(place) AS first_place FROM hotel_review.rejects WHERE run = $1
       GROUP BY reason ORDER BY count(*) DESC, reason COLLATE "C"`,
      run,
    ),
  );
}

export async function countWarnings(session: Session, runId: string): Promise<ReasonCount[]> {
  const run = await runNumber(session, runId);
  return toReasonCounts(
    await session.rows(
      'SELECT reason, count, first_place FROM hotel_review.warnings WHERE run = $1 ORDER BY count DESC, reason',
      run,
    ),
  );
}

function toReasonCounts(rows: readonly StoredRow[]): ReasonCount[] {
  return rows.map((row) => ({
    reason: String(row.reason) as ReasonCount['reason'],
    count: Number(row.count),
    ...(row.first_place === null ? {} : { firstPlace: Number(row.first_place) }),
  }));
}
