import type { MappingReader, ProviderHotel } from '../mappings/mapping-copy.js';
import type { History, SuspectReader } from '../review/history.js';
import type { RunReader } from '../review/ledger.js';
import type { Run } from '../review/run.js';
import type { StayLedger } from '../review/stays.js';
import type { BookingForm } from '../review/step.js';
import { readBooking } from '../review/stored/stored-line.js';
import { mayHaveResult } from '../review/verdicts/day-verdicts.js';
import { type CaseOrigin, isAhead } from './case.js';
import type { CaseStore, FollowedRun } from './case-store.js';
import { classifyMove } from './classify-move.js';
import { followVersions, joinBookings } from './follow-bookings.js';
import { type FollowParts, followMappings } from './follow-mappings.js';
import { type Finding, openCases } from './open-cases.js';
import type { WatchStore } from './watch-store.js';

export interface UpdateCasesParts extends Omit<FollowParts, 'ledger'> {
  readonly ledger: StayLedger &
    Pick<RunReader, 'getRun'> &
    Pick<History, 'nextJudged'> &
    SuspectReader & {
      readonly cases: CaseStore;
      readonly mappings: Pick<MappingReader, 'lookUp'>;
      readonly watch: Pick<WatchStore, 'readMasterHotels'>;
    };
  /** YYYY-MM-DD, in the account's zone. */
  readonly today: string;
  readonly signal?: AbortSignal | undefined;
}

/** Findings that are handed over at once. */
const findingsAtOnce = 5_000;

/**
 * Brings the cases up to date with all runs that have not been followed up: their suspects and affected bookings open cases,
 * their bookings join cases and update those that are in one. The ledger remembers how far each run was followed up, after
 * the fact; doing it again changes nothing. So a process that is killed here loses nothing, and two at once do no harm.
 */
export async function updateCases(parts: UpdateCasesParts): Promise<void> {
  const { ledger, signal } = parts;
  await followMappings(parts);
  let found = 0;
  for (const followed of await ledger.cases.listRunsToFollow()) {
    if (signal?.aborted) return;
    found += await followRun(followed, parts);
  }
  // A verdict may be older than the move that corrects its mapping.
  if (found > 0) await followMappings(parts);
}

/** Returns the number of its findings. */
async function followRun({ runId, hasBookings }: FollowedRun, parts: UpdateCasesParts): Promise<number> {
  const { ledger } = parts;
  const run = await ledger.getRun(runId);
  let found = 0;
  if (!hasBookings) {
    await followVersions(runId, parts);
    await joinBookings(runId, parts);
    found += await openInPieces(findSuspects(run, parts), parts);
  }
  const hasResult = run.file?.verdicts !== undefined;
  if (hasResult) found += await openInPieces(findAffected(run, parts), parts);
  const isComplete = hasResult || !mayHaveResult(run) || run.state === 'cancelled';
  if (isComplete || !hasBookings) await ledger.cases.markFollowed({ runId, hasBookings: true, isComplete });
  return found;
}

async function openInPieces(
  found: AsyncIterable<readonly Finding[]>,
  parts: UpdateCasesParts,
): Promise<number> {
  let findings: Finding[] = [];
  let count = 0;
  for await (const some of found) {
    findings.push(...some);
    count += some.length;
    if (findings.length < findingsAtOnce) continue;
    await openCases(findings, parts);
    findings = [];
  }
  if (findings.length > 0) await openCases(findings, parts);
  return count;
}

/**
 * The bookings whose hotel is another master hotel in the copy, unless the master hotel that was booked was merged into that
 * one, and those whose mapping was deleted lately. A mapping that moved to the booked master hotel is no finding.
 */
async function* findSuspects(
  run: Run,
  { ledger, today, clock }: UpdateCasesParts,
): AsyncGenerator<readonly Finding[]> {
  if (!run.suspects?.suspects) return;
  const at = run.collectedAt ?? clock();
  let page = await ledger.nextSuspects(run.id);
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
    page = await ledger.nextSuspects(run.id, page.cursor);
  }
}

async function* findAffected(
  run: Run,
  { ledger, today, clock }: UpdateCasesParts,
): AsyncGenerator<readonly Finding[]> {
  const at = run.finishedAt ?? clock();
  let page = await ledger.nextJudged(run.id, 'incorrect');
  while (page) {
    yield page.lines.flatMap((line) => toFinding(line, 'file', { origin: 'affected', at, today }));
    page = await ledger.nextJudged(run.id, 'incorrect', page.batch);
  }
}

/** None for a stay in the past, or without the provider's hotel. */
function toFinding(
  line: string,
  form: BookingForm,
  { origin, at, today }: { readonly origin: CaseOrigin; readonly at: number; readonly today: string },
): Finding[] {
  const booking = readBooking(line, form);
  const { providerName, providerHotelId, serviceId, bookingReferenceId, checkInDate } = booking;
  if (providerName === undefined || providerHotelId === undefined || !isAhead(checkInDate, today)) return [];
  const hotel: ProviderHotel = { providerName, providerHotelId };
  const references = bookingReferenceId === undefined ? [] : [bookingReferenceId];
  return [{ ...hotel, serviceId, origin, at, references }];
}
