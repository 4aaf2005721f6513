import { forEachYielding, yieldToEventLoop } from '../base/event-loop.js';
import { hashReference } from '../booking/booking.js';
import { stayOf } from '../booking/stay.js';
import { readBooking } from '../booking/stored-line.js';
import type { OpenReference } from '../ledger/cases.js';
import type { RunToFollow } from '../ledger/followed-runs.js';
import type { FoundBookings, StayRun } from '../ledger/stays.js';
import { type FoundBooking, readCurrent, readFound, readStaysAhead } from '../review/stays/stays-ahead.js';
import { readSuspects } from '../review/suspects/listing.js';
import { readJudged } from '../review/verdicts/listed-lines.js';
import { type CaseKey, type CaseStay, keyOfCase, stateOfBooking } from '../rules/case.js';
import { addStays, applyVersions, automatic, noteCorrect, toDecision } from '../rules/case-transitions.js';
import { isJudged, type Judged } from '../rules/review-file.js';
import type { Run } from '../rules/run.js';
import { judgeBooking } from '../rules/verdict.js';
import { changeCases, classifyMove, type FollowParts, followMappings } from './follow-mappings.js';
import {
  type CaseFindings,
  type CaseParts,
  type Finding,
  gatherFindings,
  openCases,
  toFinding,
} from './open-cases.js';

/** Many at once, because reading the stays of their cases scans every run, and there may be thousands. */
const findingsAtOnce = 100_000;
const runsAtOnce = 1_000;

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
    const found = await followRuns(await ledger.cases.listRunsToFollow(), parts);
    // A verdict may be older than the move that corrects its mapping.
    if (found > 0) await followMappings(parts);
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
}

/** Opens the cases of several runs together. Returns the number of findings. */
async function followRuns(runs: readonly RunToFollow[], parts: FollowParts): Promise<number> {
  const { ledger, signal } = parts;
  const gathered = new Map<string, CaseFindings>();
  let followed: { readonly run: Run; readonly order: number }[] = [];
  /** By reference, the order of the latest of these runs whose result calls it incorrect. */
  const named = new Map<string, number>();
  let waiting = 0;
  let count = 0;

  async function open(): Promise<void> {
    const hasOutdated = waiting > 0 && (await openCases(gathered, parts));
    if (hasOutdated) await followSince(await findFirstDay(runs, parts), parts);
    for (const { run, order } of followed)
      await followCorrect(run, (reference) => (named.get(reference) ?? -1) < order, parts);
    // Only now: after a failure, these are tried once more before their runs count as followed up.
    gathered.clear();
    named.clear();
    waiting = 0;
    // As it was read before its verdicts: of what was recorded meanwhile, some may have been missed.
    const marks = followed.map(({ run: { id: runId, verdictsRecorded } }) => ({ runId, verdictsRecorded }));
    if (marks.length > 0) await ledger.cases.markFollowed(marks);
    followed = [];
  }

  try {
    for (const [order, { runId, hasBookings }] of runs.entries()) {
      await yieldToEventLoop(signal);
      if (!hasBookings) await followBookings(runId, parts);
      const run = await ledger.runs.get(runId);
      for await (const findings of findFindings(run, hasBookings, parts)) {
        gatherFindings(findings, gathered);
        for (const { origin, isCleared, references = [] } of findings)
          if (origin === 'affected' && !isCleared)
            for (const reference of references) named.set(reference, order);
        waiting += findings.length;
        count += findings.length;
        if (waiting >= findingsAtOnce) await open();
        await yieldToEventLoop(signal);
      }
      followed.push({ run, order });
      if (followed.length >= runsAtOnce) await open();
    }
  } finally {
    // A run that cannot be read must not hold up those before it.
    if (!signal?.aborted) await open();
  }
  return count;
}

/** Of the business days of these runs. */
async function findFirstDay(runs: readonly RunToFollow[], { ledger }: CaseParts): Promise<string> {
  const ids = new Set(runs.map(({ runId }) => runId));
  const known = (await ledger.stays.listStayRuns()).filter(({ runId }) => ids.has(runId));
  return known.at(-1)?.day ?? '';
}

/**
 * Follows the bookings of all days since that one once more. Call it where `openCases` says so: cases have been opened for bookings
 * that changed since.
 */
export async function followSince(first: string, parts: CaseParts): Promise<void> {
  const runs = await parts.ledger.stays.listStayRuns();
  for (const day of new Set(runs.map((run) => run.day).reverse())) {
    if (day < first) continue;
    await yieldToEventLoop(parts.signal);
    await followDay(day, runs, parts);
  }
}

async function* findFindings(
  run: Run,
  hasSuspects: boolean,
  parts: FollowParts,
): AsyncGenerator<readonly Finding[]> {
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
): AsyncGenerator<readonly Finding[]> {
  const origin = { origin: 'suspect', at: run.collectedAt ?? clock(), day: run.day, today } as const;
  for await (const { suspects } of readSuspects(ledger, run.id)) {
    const found = suspects.flatMap(({ reason, serviceId: copyServiceId, line }) => {
      const isDoubtful = reason === 'other-master' || (reason === 'moved' && copyServiceId === undefined);
      const findings = isDoubtful ? toFinding(readBooking(line), origin) : [];
      return findings.map((finding) => ({ finding, copyServiceId }));
    });
    const booked = [...new Set(found.map(({ finding }) => finding.serviceId))];
    const masters = await ledger.watch.readMasterHotels(booked);
    yield found.flatMap(({ finding, copyServiceId }) => {
      const { serviceId } = finding;
      const move = classifyMove({ serviceId, copyServiceId }, masters.get(serviceId));
      return move === 'merged' ? [] : [finding];
    });
  }
}

async function* findAffected(
  run: Run,
  { ledger, today, clock }: FollowParts,
): AsyncGenerator<readonly Finding[]> {
  const origin = { origin: 'affected', at: run.finishedAt ?? clock(), day: run.day, today } as const;
  for (const judged of ['incorrect', 'cleared'] as const)
    for await (const { lines } of readJudged(ledger, run, judged)) {
      const found = lines.flatMap((line) => toFinding(readBooking(line), origin));
      yield judged === 'cleared' ? found.map((finding) => ({ ...finding, isCleared: true })) : found;
    }
}

/**
 * If the day of a run holds a newer version of a case's booking, the booking is rebooked if the hotel differs, and updated if the dates
 * differ; the day's bookings on the mapping of an active case join it. The whole day, because a run that tops it up holds only what
 * was not delivered before, whatever it found in the source.
 */
async function followBookings(runId: string, parts: CaseParts): Promise<void> {
  const runs = await parts.ledger.stays.listStayRuns();
  const day = runs.find((one) => one.runId === runId)?.day;
  if (day !== undefined) await followDay(day, runs, parts);
}

async function followDay(day: string, runs: readonly StayRun[], parts: CaseParts): Promise<void> {
  await followVersions(
    runs.filter((one) => one.day === day),
    parts,
  );
  await joinCases(day, parts);
}

async function followVersions(runs: readonly StayRun[], parts: CaseParts): Promise<void> {
  const { ledger, today, clock } = parts;
  for await (const open of readOpenReferences(parts)) {
    const versions = await findVersions(runs, open, parts);
    await changeCases(ledger, [...versions.keys()], (held) => {
      const now = clock();
      const waiting = held.bookings.filter((booking) => stateOfBooking(booking, today) === 'open');
      const newer = (versions.get(held.id) ?? [])
        .filter(({ reference, day }) => waiting.some((one) => one.reference === reference && one.day <= day))
        .map(({ key, ...stay }) => ({ ...stay, isHere: key === keyOfCase(held) }));
      const details = { day: newer[0]?.day };
      const updated = { who: automatic, at: now, action: 'case-updated', details } as const;
      return toDecision(held, applyVersions(held, newer, now), [updated]);
    });
  }
}

interface Version extends CaseStay {
  readonly reference: string;
  /** Of the case that this version belongs to. */
  readonly key: string;
}

/** Where the run holds these references. */
async function findReferences(
  run: StayRun,
  open: OpenReferences,
  { ledger: { stays }, signal }: CaseParts,
): Promise<readonly FoundBookings[]> {
  const hashes = new Set<number>();
  await forEachYielding(open.keys(), signal, (reference) => hashes.add(hashReference(reference)));
  return stays.findReferences(run, Uint32Array.from(hashes).sort());
}

/** What the runs of a day hold about open bookings of cases, by case. */
async function findVersions(
  runs: readonly StayRun[],
  open: OpenReferences,
  parts: CaseParts,
): Promise<Map<number, Version[]>> {
  const versions = new Map<number, Version[]>();
  const note = ({ booking }: FoundBooking, day: string) => {
    const { bookingReferenceId: reference, providerName = '', providerHotelId = '', serviceId } = booking;
    if (reference === undefined) return;
    const key = keyOfCase({ providerName, providerHotelId, serviceId });
    for (const { id } of open.get(reference) ?? [])
      push(versions, id, { reference, key, ...stayOf(booking, day), day });
  };
  for (const run of runs)
    for await (const bookings of readCurrent(parts.ledger, run, await findReferences(run, open, parts)))
      for (const found of bookings) note(found, run.day);
  return versions;
}

/**
 * If the result of a run calls a named booking correct, its case says so.
 *
 * @param isNewer whether no later run that is followed with it calls this booking incorrect
 */
async function followCorrect(
  run: Run,
  isNewer: (reference: string) => boolean,
  parts: CaseParts,
): Promise<void> {
  if (!run.file?.verdicts) return;
  const isSought = ({ isNamed, reference }: OpenReference) => isNamed && isNewer(reference);
  for await (const open of readOpenReferences(parts, isSought)) {
    const called = await findCalledCorrect(run, open, parts);
    await changeCases(parts.ledger, [...called.keys()], (held) => {
      const noted = noteCorrect(held, { references: called.get(held.id) ?? new Set(), runId: run.id });
      const changed = noted.bookings.filter((booking, index) => booking !== held.bookings[index]);
      const details = { calledCorrect: changed.length, run: run.id };
      return toDecision(held, noted, [
        { who: automatic, at: parts.clock(), action: 'case-updated', details },
      ]);
    });
  }
}

/** The references of open bookings of which a run's result calls all rooms and stays on the mapping correct, by case. */
async function findCalledCorrect(
  run: Run,
  open: OpenReferences,
  parts: CaseParts,
): Promise<ReadonlyMap<number, ReadonlySet<string>>> {
  const correct = new Map<string, boolean>();
  const stayRun = (await parts.ledger.stays.listStayRuns()).find(({ runId }) => runId === run.id);
  if (!stayRun) return new Map();
  const found = await findReferences(stayRun, open, parts);
  const inFile = found.filter(({ stream }) => stream === 'file');
  for await (const bookings of readFound(parts.ledger.stays, stayRun, inFile)) {
    const judged = await readJudgedRows(run.id, new Set(bookings.map(({ batch }) => batch)), parts);
    for (const { batch, row, booking } of bookings) {
      const {
        bookingReferenceId: reference = '',
        providerName = '',
        providerHotelId = '',
        serviceId,
      } = booking;
      const key = `${reference}\0${keyOfCase({ providerName, providerHotelId, serviceId })}`;
      const about = {
        run,
        stream: 'file',
        step: { state: 'done' },
        judged: judged.get(`${batch} ${row}`),
      } as const;
      const isCorrect = judgeBooking(about).verdict === 'correct';
      correct.set(key, isCorrect && (correct.get(key) ?? true));
    }
  }
  const called = new Map<number, Set<string>>();
  if (![...correct.values()].includes(true)) return called;
  const ids = [...new Set([...open.values()].flatMap((items) => items.map(({ id }) => id)))];
  const cases = await parts.ledger.cases.list({ state: 'all', ids, today: parts.today });
  const keys = new Map(cases.map((item) => [item.id, keyOfCase(item)]));
  for (const [reference, items] of open)
    for (const { id } of items)
      if (correct.get(`${reference}\0${keys.get(id)}`))
        called.set(id, (called.get(id) ?? new Set()).add(reference));
  return called;
}

/** What is recorded about bookings of these batches of the file, by batch and row. */
async function readJudgedRows(
  runId: string,
  batches: ReadonlySet<number>,
  { ledger }: CaseParts,
): Promise<ReadonlyMap<string, Judged>> {
  const judged = new Map<string, Judged>();
  for (const batch of batches)
    for (const { judged: said, rows } of await ledger.bookings.listJudgedOfBatch(runId, batch))
      if (isJudged(said)) for (const row of rows) judged.set(`${batch} ${row}`, said);
  return judged;
}

/** The stays of the day on the mappings of active cases join these. */
async function joinCases(day: string, parts: CaseParts): Promise<void> {
  const { ledger, today, clock, signal } = parts;
  const active = new Map((await ledger.cases.listActive()).map((item) => [keyOfCase(item), item]));
  const isWanted = (stay: CaseKey) => active.has(keyOfCase(stay));
  const options = { today, day, isWanted, signal };
  for await (const { stays } of readStaysAhead(ledger, [...active.values()], options)) {
    const joining = new Map<number, CaseStay[]>();
    for (const stay of stays) {
      const item = active.get(keyOfCase(stay));
      if (item) push(joining, item.id, stay);
    }
    await changeCases(ledger, [...joining.keys()], (held) => {
      const now = clock();
      const joined = addStays(held, { stays: joining.get(held.id) ?? [], references: new Set() }, now);
      const details = { bookings: joined.bookings.length - held.bookings.length };
      return toDecision(held, joined, [{ who: automatic, at: now, action: 'case-updated', details }]);
    });
  }
}

const rowsAtOnce = 2_000;
/** Each look-up of some of them reads the index of a run. */
const referencesAtOnce = 50_000;

type OpenReferences = ReadonlyMap<string, readonly OpenReference[]>;

/** The open bookings of cases that are wanted, by their references; some at a time. */
async function* readOpenReferences(
  { ledger: { cases }, today, signal }: CaseParts,
  isWanted: (item: OpenReference) => boolean = () => true,
): AsyncGenerator<OpenReferences, void, undefined> {
  let open = new Map<string, OpenReference[]>();
  let found: readonly OpenReference[];
  let after: OpenReference | undefined;
  do {
    found = await cases.listOpenReferences(today, { after, limit: rowsAtOnce });
    for (const item of found) if (isWanted(item)) push(open, item.reference, item);
    after = found.at(-1);
    await yieldToEventLoop(signal);
    if (open.size < referencesAtOnce && found.length === rowsAtOnce) continue;
    if (open.size > 0) yield open;
    open = new Map();
  } while (found.length === rowsAtOnce);
}

function push<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const known = map.get(key);
  if (known) known.push(value);
  else map.set(key, [value]);
}
