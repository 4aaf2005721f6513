import { forEachGivingWay, giveWay } from '../async/give-way.js';
import { hashReference } from '../booking/booking.js';
import { isOver } from '../booking/stay.js';
import {
  type CaseStay,
  type FollowedRun,
  keyOfCase,
  type OpenReference,
  stateOfBooking,
} from '../ledger/case.js';
import type { Run } from '../ledger/run.js';
import type { BookingForm } from '../ledger/step.js';
import { readFound, readStaysAhead } from '../review/stays/stays-ahead.js';
import { readBooking } from '../review/stored/stored-line.js';
import { readSuspects } from '../review/suspects/listing.js';
import { mayHaveResult } from '../review/verdicts/day-verdicts.js';
import { readJudged } from '../review/verdicts/listing.js';
import { addStays, applyVersions, automatic, toDecision } from './case-transitions.js';
import { changeCases, classifyMove, type FollowParts, followMappings } from './follow-mappings.js';
import { type CaseFindings, type CaseParts, type Finding, gatherFindings, openCases } from './open-cases.js';

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
async function followRuns(runs: readonly FollowedRun[], parts: FollowParts): Promise<number> {
  const { ledger, signal } = parts;
  const gathered = new Map<string, CaseFindings>();
  let followed: FollowedRun[] = [];
  let waiting = 0;
  let count = 0;

  async function open(): Promise<void> {
    if (waiting > 0) await openCases(gathered, parts);
    // Only now: after a failure, these are tried once more before their runs count as followed up.
    gathered.clear();
    waiting = 0;
    if (followed.length > 0) await ledger.cases.markFollowed(followed);
    followed = [];
  }

  try {
    for (const { runId, hasBookings } of runs) {
      await giveWay(signal);
      if (!hasBookings) await followBookings(runId, parts);
      const run = await ledger.runs.get(runId);
      for await (const findings of findFindings(run, hasBookings, parts)) {
        gatherFindings(findings, gathered);
        waiting += findings.length;
        count += findings.length;
        if (waiting >= findingsAtOnce) await open();
        await giveWay(signal);
      }
      const isComplete = run.file?.verdicts !== undefined || !mayHaveResult(run) || run.state === 'cancelled';
      if (isComplete || !hasBookings) followed.push({ runId, hasBookings: true, isComplete });
      if (followed.length >= runsAtOnce) await open();
    }
  } finally {
    // A run that cannot be read must not hold up those before it.
    if (!signal?.aborted) await open();
  }
  return count;
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
  const origin = { origin: 'suspect', at: run.collectedAt ?? clock() } as const;
  for await (const { form, suspects } of readSuspects(ledger, run.id)) {
    const found = suspects.flatMap(({ reason, serviceId: copyServiceId, line }) => {
      const isDoubtful = reason === 'other-master' || (reason === 'moved' && copyServiceId === undefined);
      const findings = isDoubtful ? toFinding(line, form, origin, today) : [];
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
  const origin = { origin: 'affected', at: run.finishedAt ?? clock() } as const;
  for await (const { form, lines } of readJudged(ledger, run, 'incorrect'))
    yield lines.flatMap((line) => toFinding(line, form, origin, today));
}

/** Empty for a stay that is over, or without the provider's hotel. */
function toFinding(
  line: string,
  form: BookingForm,
  origin: Pick<Finding, 'origin' | 'at'>,
  today: string,
): Finding[] {
  const booking = readBooking(line, form);
  const { providerName, providerHotelId, serviceId, bookingReferenceId } = booking;
  const stay = { checkIn: booking.checkInDate, checkOut: booking.checkOutDate };
  if (providerName === undefined || providerHotelId === undefined || isOver(stay, today)) return [];
  const references = bookingReferenceId === undefined ? [] : [bookingReferenceId];
  return [{ providerName, providerHotelId, serviceId, references, ...origin }];
}

/**
 * If a run holds a newer version of a case's booking, the booking is rebooked if the hotel differs, and updated if the dates
 * differ; the run's bookings on the mapping of an active case join it.
 */
async function followBookings(runId: string, parts: CaseParts): Promise<void> {
  const { ledger, today, clock } = parts;
  const versions = await findVersions(runId, parts);
  const joining = await findJoining(runId, parts);
  await changeCases(ledger, [...new Set([...versions.keys(), ...joining.keys()])], (held) => {
    const now = clock();
    const open = held.bookings.filter((booking) => stateOfBooking(booking, today) === 'open');
    const newer = (versions.get(held.id) ?? [])
      .filter(({ reference, day }) => open.some((one) => one.reference === reference && one.day <= day))
      .map(({ key, ...stay }) => ({ ...stay, isHere: key === keyOfCase(held) }));
    const followed = applyVersions(held, newer, now);
    const stays = joining.get(held.id) ?? [];
    const joined = addStays(followed, { stays, references: new Set() }, now);
    const updated = { who: automatic, at: now, action: 'case-updated' } as const;
    const bookings = joined.bookings.length - held.bookings.length;
    return toDecision(held, joined, [
      ...(followed === held ? [] : [{ ...updated, details: { day: newer[0]?.day } }]),
      ...(joined === followed ? [] : [{ ...updated, details: { bookings } }]),
    ]);
  });
}

interface Version extends CaseStay {
  readonly reference: string;
  /** Of the case that this version belongs to. */
  readonly key: string;
}

/** What the run holds about open bookings of cases, by case. */
async function findVersions(runId: string, parts: CaseParts): Promise<Map<number, Version[]>> {
  const { stays } = parts.ledger;
  const open = await readOpenReferences(parts);
  const run = (await stays.listStayRuns()).find((one) => one.runId === runId);
  const versions = new Map<number, Version[]>();
  if (!run || open.size === 0) return versions;
  const hashes = new Set<number>();
  await forEachGivingWay(open.keys(), parts.signal, (reference) => hashes.add(hashReference(reference)));
  const found = await stays.findReferences(run, Uint32Array.from(hashes).sort());
  for await (const bookings of readFound(stays, run, found))
    for (const { booking } of bookings) {
      const { bookingReferenceId: reference, checkInDate: checkIn, checkOutDate: checkOut } = booking;
      if (reference === undefined) continue;
      const { providerName = '', providerHotelId = '', serviceId } = booking;
      const key = keyOfCase({ providerName, providerHotelId, serviceId });
      for (const { id } of open.get(reference) ?? [])
        push(versions, id, { reference, key, checkIn, checkOut, day: run.day });
    }
  return versions;
}

/** The stays of the run on the mappings of active cases, by case. */
async function findJoining(runId: string, parts: CaseParts): Promise<Map<number, CaseStay[]>> {
  const { ledger, today, signal } = parts;
  const active = new Map((await ledger.cases.listActive()).map((item) => [keyOfCase(item), item]));
  const joining = new Map<number, CaseStay[]>();
  for await (const stays of readStaysAhead(ledger, [...active.values()], { today, runId, signal }))
    for (const stay of stays) {
      const item = active.get(keyOfCase(stay));
      if (item) push(joining, item.id, stay);
    }
  return joining;
}

const rowsAtOnce = 2_000;

/** The open bookings of cases, by their references. */
async function readOpenReferences({ ledger: { cases }, today, signal }: CaseParts) {
  const open = new Map<string, OpenReference[]>();
  let found: readonly OpenReference[];
  let after: OpenReference | undefined;
  do {
    found = await cases.listOpenReferences(today, { after, limit: rowsAtOnce });
    for (const item of found) push(open, item.reference, item);
    after = found.at(-1);
    await giveWay(signal);
  } while (found.length === rowsAtOnce);
  return open;
}

function push<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const known = map.get(key);
  if (known) known.push(value);
  else map.set(key, [value]);
}
