import { yieldToEventLoop } from '../base/event-loop.js';
import { readBooking } from '../booking/stored-line.js';
import type { RunToFollow } from '../ledger/followed-runs.js';
import type { Ledger } from '../ledger/ledger.js';
import { readJudged } from '../review/lists/listed-lines.js';
import { readSuspects } from '../review/suspects/listing.js';
import { keyOfCase } from '../rules/case.js';
import { automatic, noteCorrect, toDecision } from '../rules/case-transitions.js';
import { type Judged, stillCounts } from '../rules/review-file.js';
import type { Run } from '../rules/run.js';
import { judgeBooking } from '../rules/verdict.js';
import {
  type CaseParts,
  changeCases,
  followDay,
  readOpenReferences,
  readReferences,
} from './case-bookings.js';
import { classifyMove, type FollowParts, followMappings } from './follow-mappings.js';
import { type CaseFinding, openCases, toCaseFinding } from './open-cases.js';

/** Many at once, because reading the stays of their cases scans every run. */
const findingsAtOnce = 100_000;

/**
 * Brings the cases up to date with all runs that have not been followed up: their suspects and affected bookings open cases,
 * and their bookings join cases or update the bookings there. The ledger records afterwards how far each run was followed up,
 * and repeating the work changes nothing. So a process that is killed here loses nothing, and two at once do no harm.
 *
 * Other work gets its turn between two runs, and the signal stops it there.
 */
export async function updateCases(parts: FollowParts): Promise<void> {
  const { ledger, signal } = parts;
  await followMappings(parts);
  try {
    let findings = 0;
    for (const run of await ledger.cases.listRunsToFollow()) {
      await yieldToEventLoop(signal);
      findings += await followRun(run, parts);
    }
    // A verdict may be older than the move that corrects its mapping.
    if (findings > 0) await followMappings(parts);
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
}

/** Returns the number of findings. */
async function followRun({ runId, hasBookings }: RunToFollow, parts: FollowParts): Promise<number> {
  const { ledger, signal } = parts;
  const run = await ledger.runs.get(runId);
  if (!hasBookings) await followDay(run.day, parts);
  let waiting: CaseFinding[] = [];
  let count = 0;
  for await (const findings of findFindings(run, hasBookings, parts)) {
    for (const finding of findings) waiting.push(finding);
    count += findings.length;
    await yieldToEventLoop(signal);
    if (waiting.length < findingsAtOnce) continue;
    await openCases(waiting, parts);
    waiting = [];
  }
  if (waiting.length > 0) await openCases(waiting, parts);
  await followCorrect(run, parts);
  // As the run was read before its verdicts: of what was recorded meanwhile, some may have been missed.
  await ledger.cases.markFollowed({ runId, verdictsRecorded: run.verdictsRecorded });
  return count;
}

async function* findFindings(
  run: Run,
  hasSuspects: boolean,
  parts: FollowParts,
): AsyncGenerator<readonly CaseFinding[]> {
  if (!hasSuspects && run.suspects) yield* findSuspects(run, parts);
  if (run.file?.verdicts) yield* findAffected(run, parts);
}

/**
 * The bookings whose hotel has another master hotel in the copy, unless the booked master hotel was merged into that
 * one, and those whose mapping was deleted recently. A mapping that moved to the booked master hotel is no finding.
 */
async function* findSuspects(
  run: Run,
  { ledger, today, clock }: FollowParts,
): AsyncGenerator<readonly CaseFinding[]> {
  const origin = { origin: 'suspect', at: run.collectedAt ?? clock(), day: run.day, today } as const;
  for await (const { suspects } of readSuspects(ledger, run.id)) {
    const found = suspects.flatMap(({ serviceId: copyServiceId, line }) =>
      toCaseFinding(readBooking(line), origin).map((finding) => ({ finding, copyServiceId })),
    );
    const booked = [...new Set(found.map(({ finding }) => finding.serviceId))];
    const masters = await ledger.watch.readMasterHotels(booked);
    yield found.flatMap(({ finding, copyServiceId }) => {
      const { serviceId } = finding;
      const move = classifyMove({ serviceId, copyServiceId }, masters.get(serviceId));
      return move === undefined || move === 'merged' ? [] : [finding];
    });
  }
}

async function* findAffected(
  run: Run,
  { ledger, today, clock }: FollowParts,
): AsyncGenerator<readonly CaseFinding[]> {
  // What a newer file calls correct is in a case, too, which says so.
  const origin = { origin: 'affected', at: run.finishedAt ?? clock(), day: run.day, today } as const;
  for (const judged of ['incorrect', 'cleared'] as const)
    for await (const { lines } of readJudged(ledger, run, judged))
      yield lines.flatMap((line) => toCaseFinding(readBooking(line), origin));
}

/** If the result of a run calls a named booking correct, in all of its rooms and stays on the mapping, its case says so. */
async function followCorrect(run: Run, parts: CaseParts): Promise<void> {
  if (!run.file?.verdicts) return;
  const { ledger, clock } = parts;
  const stayRun = (await ledger.stays.listStayRuns()).find(({ runId }) => runId === run.id);
  if (!stayRun) return;
  for await (const open of readOpenReferences(parts)) {
    const named = new Map([...open].filter(([, items]) => items.some(({ isNamed }) => isNamed)));
    if (named.size === 0) continue;
    const called = await findCalled(run, readReferences(stayRun, named.keys(), parts), parts);
    const ids = new Set<number>();
    for (const { reference, isCorrect } of called.values())
      if (isCorrect) for (const { id } of named.get(reference) ?? []) ids.add(id);
    await changeCases(ledger, [...ids], (held) => {
      const isCalledCorrect = (reference = '') => called.get(`${reference}\0${keyOfCase(held)}`)?.isCorrect;
      const references = held.bookings.flatMap(({ reference }) =>
        reference !== undefined && isCalledCorrect(reference) ? [reference] : [],
      );
      const noted = noteCorrect(held, { references: new Set(references), runId: run.id });
      const changed = noted.bookings.filter((booking, index) => booking !== held.bookings[index]);
      const details = { calledCorrect: changed.length, run: run.id };
      return toDecision(held, noted, [{ who: automatic, at: clock(), action: 'case-updated', details }]);
    });
  }
}

/** What the result of a run says about bookings in its file, by reference and mapping. */
async function findCalled(
  run: Run,
  found: ReturnType<typeof readReferences>,
  { ledger }: CaseParts,
): Promise<ReadonlyMap<string, { readonly reference: string; readonly isCorrect: boolean }>> {
  const called = new Map<string, { readonly reference: string; readonly isCorrect: boolean }>();
  let read: { readonly batch: number; readonly judged: ReadonlyMap<number, Judged> } | undefined;
  for await (const { stream, batch, row, reference, key } of found) {
    if (stream !== 'file') continue;
    if (read?.batch !== batch) read = { batch, judged: await readJudgedOf(run.id, batch, ledger) };
    const about = { run, stream, step: { state: 'done' }, judged: read.judged.get(row) } as const;
    const isCorrect = judgeBooking(about).verdict === 'correct';
    const known = called.get(`${reference}\0${key}`)?.isCorrect ?? true;
    called.set(`${reference}\0${key}`, { reference, isCorrect: isCorrect && known });
  }
  return called;
}

/** What is recorded about the bookings of a batch of the file, by row. */
async function readJudgedOf(runId: string, batch: number, { bookings }: Ledger) {
  const recorded = await bookings.listJudgedOfBatch(runId, batch);
  return new Map(
    recorded.flatMap(({ judged, rows }) =>
      stillCounts(judged) ? rows.map((row): [number, Judged] => [row, judged]) : [],
    ),
  );
}
