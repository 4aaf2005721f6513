import { yieldToEventLoop } from '../base/event-loop.js';
import type { ExtraValues } from '../booking/extra-values.js';
import type { BatchStream } from '../booking/sending.js';
import { stayOf } from '../booking/stay.js';
import { readBooking } from '../booking/stored-line.js';
import { preparingKinds } from '../rules/file-chain.js';
import type { Judged } from '../rules/review-file.js';
import type { Run } from '../rules/run.js';
import { extraAt, readExtraOfBatch, readLines } from './batches.js';
import { findNaming, findNamingMapping } from './mails.js';
import { all, count, type Query, type Reader, readsTogether, sql, walks, withoutUndefined } from './query.js';
import { findRejects, type Reject } from './rejects.js';
import { readRun, runNumber, runs } from './runs.js';
import { type Candidates, findCandidates, type TraceRange } from './stays.js';
import { type Attempt, attemptsOf, steps } from './steps.js';
import { isSuperseded } from './stored-outcomes.js';
import { findSuspect, type Suspect } from './suspects.js';
import * as t from './table.js';
import { findJudged } from './verdicts.js';

/**
 * Everything the ledger knows about a booking reference, newest run first.
 *
 * @param day only what was sent of that business day: reading fewer runs is faster
 */
export const trace = readsTogether(
  (reference: string, day?: string): Query<Trace[]> =>
    traceWithin(reference, { day, from: 0, to: Number.MAX_SAFE_INTEGER }),
);

const runsAtOnce = 100;

/** The same, of some runs at a time: a booking may have been sent every night for years. */
export const readTraces = walks(async function* (
  { read, readTogether }: Reader,
  reference: string,
): AsyncGenerator<readonly Trace[], void, undefined> {
  const newest = await read(() => count(sql`SELECT max(number) AS number FROM ${runs}`));
  for (let to = newest; to > 0; to -= runsAtOnce) {
    const within = { from: to - runsAtOnce + 1, to };
    yield await readTogether(() => traceWithin(reference, within));
    await yieldToEventLoop();
  }
});

function* traceWithin(reference: string, within: TraceRange): Query<Trace[]> {
  const found: { readonly run: number; readonly trace: Trace }[] = [];
  for (const candidates of yield* findCandidates(reference, within)) {
    for (const trace of yield* traceBookings(candidates, reference))
      found.push({ run: candidates.run, trace });
  }
  for (const { run, reject } of within.day === undefined ? yield* findRejects(reference, within) : [])
    found.push({ run, trace: { kind: 'reject', run: yield* readRun(run), ...reject } });
  // The sort is stable: within a run bookings stay before rejects.
  return found.sort((a, b) => b.run - a.run).map(({ trace }) => trace);
}

function* traceBookings(
  { run, stream, batchSize, positions }: Candidates,
  reference: string,
): Query<Trace[]> {
  const traces: Trace[] = [];
  const found = yield* readRun(run);
  let current: { readonly batch: number; readonly lines: readonly string[] } | undefined;
  for (const position of positions) {
    const batch = Math.floor(position / batchSize);
    const first = position % batchSize;
    if (current?.batch !== batch) current = { batch, lines: yield* readLines(run, stream, batch) };
    const line = current.lines[first];
    if (line === undefined || readBooking(line).bookingReferenceId !== reference) continue;
    const carrying = yield* stepsThatCarry(run, stream, batch, first);
    const tried: Attempt[] = [];
    for (const { name } of carrying)
      for (const attempt of yield* attemptsOf(run, found.id, name)) tried.push(attempt);
    traces.push(
      withoutUndefined({
        kind: 'booking' as const,
        run: found,
        stream,
        batch,
        position,
        judged: stream === 'file' ? yield* findJudged(run, batch, first) : undefined,
        line,
        namedByEmailAt: yield* findNaming(run, stream, batch, first),
        mappingNamedByEmailAt: yield* findMappingNamed(found, line),
        suspect: yield* findSuspect(run, stream, batch, first),
        isSuperseded: (yield* isSuperseded(run, stream, batch, first)) || undefined,
        extraValues: extraAt(yield* readExtraOfBatch(run, stream, batch), first),
        step: carrying.at(-1),
        attempts: tried,
      }) as Trace,
    );
  }
  return traces;
}

function* findMappingNamed(run: Run, line: string): Query<number | undefined> {
  const booking = readBooking(line);
  const { providerName, providerHotelId, serviceId } = booking;
  if (providerName === undefined || providerHotelId === undefined) return undefined;
  const pair = { providerName, providerHotelId, serviceId };
  return yield* findNamingMapping(pair, { run, checkIn: stayOf(booking, run.day).checkIn });
}

const carrying = steps.only('name', 'kind', 'state', 'first', 'bookings');

/**
 * From the whole batch down to the half that contains the booking now. A booking in the file belongs to the by-file call, whose step may not
 * be there yet: the one before it has its bookings.
 */
function stepsThatCarry(
  run: number,
  stream: BatchStream,
  batch: number,
  first: number,
): Query<readonly CarryingStep[]> {
  if (stream === 'file')
    return all(
      sql`SELECT 'trigger' AS name, 'trigger' AS kind, state, first, bookings FROM ${steps}
       WHERE run = ${run} AND kind IN (${t.literals([...preparingKinds, 'trigger'])}) AND bookings > 0`,
    );
  return all(
    sql`SELECT name, kind, state, first, bookings FROM ${steps}
     WHERE run = ${run} AND stream = ${stream} AND batch = ${batch}
       AND first <= ${first} AND first + bookings > ${first} ORDER BY bookings DESC`,
  );
}

type CarryingStep = t.Row<typeof carrying>;

interface RefusedStep {
  readonly step: string;
  readonly code: string;
  readonly stream: BatchStream;
  readonly batch: number;
  /** Within the batch. */
  readonly row: number;
}
export type RefusedBooking = RefusedStep & { readonly line: string };

/** In the order of the plan, without the first ones if some are to be skipped. */
export const listRefused = readsTogether(function* (
  runId: string,
  limit: number,
  skip = 0,
): Query<RefusedBooking[]> {
  const run = yield* runNumber(runId);
  const found = yield* all<RefusedStep>(
    sql`SELECT name AS step, last_code AS code, stream, batch, first AS row FROM ${steps}
     WHERE run = ${run} AND state = 'refused' AND stream IS NOT NULL
     ORDER BY position, name LIMIT ${limit} OFFSET ${skip}`,
  );
  const refused: RefusedBooking[] = [];
  let current: { readonly of: string; readonly lines: readonly string[] } | undefined;
  for (const step of found) {
    // The bookings of a batch stand together.
    const of = `${step.stream} ${step.batch}`;
    if (current?.of !== of) current = { of, lines: yield* readLines(run, step.stream, step.batch) };
    refused.push({ ...step, line: current.lines[step.row] ?? '' });
  }
  return refused;
});

export type Trace =
  | {
      readonly kind: 'booking';
      readonly run: Run;
      readonly stream: BatchStream;
      readonly batch: number;
      /** Counted from 0, among the run's bookings of that stream, which is their order in the file. */
      readonly position: number;
      readonly line: string;
      readonly step?: CarryingStep;
      /** What its result says, unless it calls the mapping correct. */
      readonly judged?: Judged;
      /** When the first e-mail that names it was received, in epoch milliseconds. */
      readonly namedByEmailAt?: number;
      /** When the first e-mail was received that names its provider hotel and master hotel, without its reference. */
      readonly mappingNamedByEmailAt?: number;
      /** What the local copy of the mappings said about it. */
      readonly suspect?: Suspect;
      /** A later collect found another hotel or stay under its reference instead: it counts no more. */
      readonly isSuperseded?: true;
      /** Its local columns, which are not sent. */
      readonly extraValues?: ExtraValues;
      readonly attempts: readonly Attempt[];
    }
  | ({ readonly kind: 'reject'; readonly run: Run } & Reject);
