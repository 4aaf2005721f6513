import { giveWay } from '../async/give-way.js';
import { isOver } from '../booking/stay.js';
import type { Ledger } from '../ledger/ledger.js';
import type { ProviderHotel } from '../ledger/mappings.js';

import type { Run } from '../ledger/run.js';

import type { BookingForm } from '../ledger/step.js';
import { readBooking } from '../review/stored/stored-line.js';
import { mayHaveResult } from '../review/verdicts/day-verdicts.js';
import type { CaseOrigin } from './case.js';
import type { FollowedRun } from './case-store.js';
import { classifyMove } from './classify-move.js';
import { createFindings, type Finding } from './findings.js';
import { followBookings } from './follow-bookings.js';
import { type FollowParts, followMappings } from './follow-mappings.js';
import { openCases } from './open-cases.js';

export interface UpdateCasesParts extends Omit<FollowParts, 'ledger'> {
  readonly ledger: Ledger;
  /** YYYY-MM-DD, in the account's zone. */
  readonly today: string;
  /** Cases are opened once there are so many findings. Default 100,000. */
  readonly findingsAtOnce?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Many at once, because reading the stays of their cases scans every run, and there may be thousands. */
const usualFindingsAtOnce = 100_000;
const runsAtOnce = 1_000;
/** Runs whose bookings are compared with those of cases together. */
const runsPerGroup = 100;

/**
 * Brings the cases up to date with all runs that have not been followed up: their suspects and affected bookings open cases,
 * and their bookings join cases or update the bookings there. The ledger records afterwards how far each run was followed up,
 * and repeating the work changes nothing. So a process that is killed here loses nothing, and two at once do no harm.
 *
 * Other work gets its turn between two runs, and the signal stops it there.
 */
export async function updateCases(parts: UpdateCasesParts): Promise<void> {
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

/** Returns the number of findings. */
async function followRuns(runs: readonly FollowedRun[], parts: UpdateCasesParts): Promise<number> {
  const gathered = gatherFindings(parts);
  try {
    for (let first = 0; first < runs.length; first += runsPerGroup)
      await followGroup(runs.slice(first, first + runsPerGroup), gathered, parts);
  } catch (error) {
    // A run that cannot be read must not hold up those before it.
    if (!parts.signal?.aborted) await gathered.finish();
    throw error;
  }
  return gathered.finish();
}

async function followGroup(
  group: readonly FollowedRun[],
  gathered: GatheredFindings,
  parts: UpdateCasesParts,
): Promise<void> {
  const unfollowed = group.filter(({ hasBookings }) => !hasBookings).map(({ runId }) => runId);
  try {
    await followBookings(unfollowed, gathered.addedCases, parts);
  } catch (error) {
    if (parts.signal?.aborted || group.length === 1) throw error;
    for (const followed of group) await followGroup([followed], gathered, parts);
    return;
  }
  for (const followed of group) {
    await giveWay(parts.signal);
    await findOpenings(followed, gathered, parts);
  }
}

async function findOpenings(
  { runId, hasBookings }: FollowedRun,
  gathered: GatheredFindings,
  parts: UpdateCasesParts,
): Promise<void> {
  const run = await parts.ledger.runs.get(runId);
  if (!hasBookings) await gathered.add(findSuspects(run, parts));
  const hasResult = run.file?.verdicts !== undefined;
  if (hasResult) await gathered.add(findAffected(run, parts));
  const isComplete = hasResult || !mayHaveResult(run) || run.state === 'cancelled';
  if (isComplete || !hasBookings) await gathered.endRun({ runId, hasBookings: true, isComplete });
}

type GatheredFindings = ReturnType<typeof gatherFindings>;

/** Opens the cases of several runs together; each run counts as followed up once all its findings are dealt with. */
function gatherFindings(parts: UpdateCasesParts) {
  const { ledger, findingsAtOnce = usualFindingsAtOnce, signal } = parts;
  const findings = createFindings();
  let ended: FollowedRun[] = [];
  let count = 0;
  const addedCases: number[] = [];

  async function open(): Promise<void> {
    if (findings.count > 0)
      for (const { id } of (await openCases(findings.list(), parts)).added) addedCases.push(id);
    // Only now: after a failure, these are tried once more before their runs count as followed up.
    findings.clear();
    for (let first = 0; first < ended.length; first += runsPerGroup)
      await ledger.cases.markFollowed(ended.slice(first, first + runsPerGroup));
    ended = [];
  }

  return {
    /** The ids of the cases opened here; they already have all bookings of these runs. */
    addedCases: addedCases as readonly number[],
    async add(found: AsyncIterable<readonly Finding[]>): Promise<void> {
      for await (const some of found) {
        some.forEach(findings.add);
        count += some.length;
        if (findings.count >= findingsAtOnce) await open();
        await giveWay(signal);
      }
    },
    async endRun(run: FollowedRun): Promise<void> {
      ended.push(run);
      if (ended.length >= (findings.count === 0 ? runsPerGroup : runsAtOnce)) await open();
    },
    /** Returns the number of all findings. */
    async finish(): Promise<number> {
      await open();
      return count;
    },
  };
}

/**
 * The bookings whose hotel has another master hotel in the copy, unless the booked master hotel was merged into that
 * one, and those whose mapping was deleted recently. A mapping that moved to the booked master hotel is no finding.
 */
async function* findSuspects(
  run: Run,
  { ledger, today, clock }: UpdateCasesParts,
): AsyncGenerator<readonly Finding[]> {
  if (!run.suspects) return;
  const at = run.collectedAt ?? clock();
  let page = await ledger.bookings.nextSuspects(run.id);
  while (page) {
    const { form, suspects } = page;
    const found = suspects.flatMap(({ reason, serviceId: copyServiceId, line }) => {
      const isDoubtful = reason === 'other-master' || (reason === 'moved' && copyServiceId === undefined);
      const [finding] = isDoubtful ? toFinding(line, form, { origin: 'suspect', at, today }) : [];
      return finding ? [{ finding, copyServiceId }] : [];
    });
    const booked = [...new Set(found.map(({ finding }) => finding.serviceId))];
    const masters = await ledger.watch.readMasterHotels(booked);
    yield found.flatMap(({ finding, copyServiceId }) => {
      const { serviceId } = finding;
      const move = classifyMove({ serviceId, copyServiceId }, masters.get(serviceId));
      return move === 'merged' ? [] : [finding];
    });
    page = await ledger.bookings.nextSuspects(run.id, page.cursor);
  }
}

async function* findAffected(
  run: Run,
  { ledger, today, clock }: UpdateCasesParts,
): AsyncGenerator<readonly Finding[]> {
  const at = run.finishedAt ?? clock();
  let page = await ledger.bookings.nextJudged(run.id, 'incorrect');
  while (page) {
    yield page.lines.flatMap((line) => toFinding(line, 'file', { origin: 'affected', at, today }));
    page = await ledger.bookings.nextJudged(run.id, 'incorrect', page.batch);
  }
}

/** Empty for a stay that is over, or without the provider's hotel. */
function toFinding(
  line: string,
  form: BookingForm,
  { origin, at, today }: { readonly origin: CaseOrigin; readonly at: number; readonly today: string },
): Finding[] {
  const booking = readBooking(line, form);
  const { providerName, providerHotelId, serviceId, bookingReferenceId } = booking;
  const stay = { checkIn: booking.checkInDate, checkOut: booking.checkOutDate };
  if (providerName === undefined || providerHotelId === undefined || isOver(stay, today)) return [];
  const hotel: ProviderHotel = { providerName, providerHotelId };
  const references = bookingReferenceId === undefined ? [] : [bookingReferenceId];
  return [{ ...hotel, serviceId, origin, at, references }];
}
