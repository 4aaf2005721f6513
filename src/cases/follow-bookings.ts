import { forEachGivingWay, giveWay } from '../async/give-way.js';
import { hashReference } from '../booking/reference-hash.js';
import type { Ledger } from '../ledger/ledger.js';
import type { StayAhead, StayRun } from '../ledger/stays.js';
import { readFound } from '../review/stays/found-bookings.js';
import { readStaysAhead } from '../review/stays/stays-ahead.js';
import { keyOfCase, stateOfBooking } from './case.js';
import { addStays, applyVersions, type CaseStay, mergeStays } from './case-bookings.js';
import { type Act, automatic, toDecision } from './case-decision.js';
import type { OpenReference } from './case-store.js';
import { changeCases } from './change-cases.js';
import { type OpenReferences, readActiveCases, readOpenReferences } from './read-open-cases.js';

export interface FollowBookingsParts {
  readonly ledger: Ledger;
  readonly today: string;
  readonly clock: () => number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * If runs hold a newer version of a case's booking, the booking is rebooked if the hotel differs, and updated if the dates
 * differ; the runs' bookings on the mapping of an active case join it. The outcome is as if the runs were followed one by one,
 * but what the cases hold is read once for all runs, and written only if it changes.
 *
 * @param runIds in the order in which they are followed
 * @param except the ids of cases that already have every booking of these runs, ascending
 */
export async function followBookings(
  runIds: readonly string[],
  except: readonly number[],
  parts: FollowBookingsParts,
): Promise<void> {
  if (runIds.length === 0) return;
  const { ledger, today, signal } = parts;
  const reading = { cases: ledger.cases, except, signal };
  const open = await readOpenReferences(reading, today);
  const changed = await followVersions(runIds, open, parts);
  const active = await readActiveCases(reading);
  if (active.size === 0) return;
  const known = changed === 0 ? open : await readOpenReferences(reading, today);
  await joinBookings(runIds, { active, known }, parts);
}

/** What a run holds about a booking of a case. */
interface Held<Item> {
  readonly runId: string;
  readonly item: Item;
}

/** By case, in the order of the runs. */
type HeldByCase<Item> = Map<number, Held<Item>[]>;

async function joinBookings(
  runIds: readonly string[],
  { active, known }: { readonly active: ReadonlyMap<string, number>; readonly known: OpenReferences },
  { ledger, today, clock, signal }: FollowBookingsParts,
): Promise<void> {
  const select = (stays: readonly StayAhead[]) => selectUnknown(stays, active, known);
  const joining: HeldByCase<CaseStay> = new Map();
  const options = { today, runIds: new Set(runIds), select, signal };
  for await (const stays of readStaysAhead(ledger, [...active.keys()].map(toHotel), options))
    for (const stay of stays) {
      const id = active.get(keyOfCase(stay));
      if (id !== undefined) push(joining, id, { runId: stay.runId, item: stay });
    }
  await changeCases(ledger.cases, [...joining.keys()], (held) => {
    const now = clock();
    const acts: Act[] = [];
    let next = held;
    for (const [, stays] of groupByRun(joining.get(held.id), runIds)) {
      const joined = addStays(next, { stays, references: new Set() }, now);
      const bookings = joined.bookings.length - next.bookings.length;
      if (joined !== next)
        acts.push({ who: automatic, at: now, action: 'case-updated', details: { bookings } });
      next = joined;
    }
    return toDecision(held, next, acts);
  });
}

/** The stays of a run on the mappings of these cases, without bookings that the case already has unchanged. */
function selectUnknown(
  stays: readonly StayAhead[],
  active: ReadonlyMap<string, number>,
  known: OpenReferences,
): ReadonlySet<StayAhead> {
  const unknown = new Set<StayAhead>();
  const ofBookings = new Map<string, StayAhead[]>();
  for (const stay of stays) {
    const id = active.get(keyOfCase(stay));
    if (id === undefined) continue;
    if (stay.reference === undefined) unknown.add(stay);
    else push(ofBookings, `${id} ${stay.reference}`, stay);
  }
  for (const [key, ofBooking] of ofBookings) {
    const listed = known.get(ofBooking[0]?.reference ?? '')?.find(({ id }) => key.startsWith(`${id} `));
    if (!listed || !isSame(listed, ofBooking)) for (const stay of ofBooking) unknown.add(stay);
  }
  return unknown;
}

/** Whether a case has a booking, all its rooms together, exactly as a run holds it. */
function isSame(listed: OpenReference, stays: readonly CaseStay[]): boolean {
  const [merged] = mergeStays(stays);
  return (
    merged?.day === listed.day && merged.checkIn === listed.checkIn && merged.checkOut === listed.checkOut
  );
}

function toHotel(key: string) {
  const [providerName = '', providerHotelId = ''] = key.split('\0');
  return { providerName, providerHotelId };
}

interface Version extends CaseStay {
  readonly reference: string;
  readonly key: string;
}

/** Returns how many cases changed. */
async function followVersions(
  runIds: readonly string[],
  open: OpenReferences,
  { ledger, today, clock, signal }: FollowBookingsParts,
): Promise<number> {
  if (open.size === 0) return 0;
  const byId = new Map((await ledger.stays.listStayRuns()).map((run) => [run.runId, run]));
  const runs = runIds.flatMap((id) => byId.get(id) ?? []);
  const hashes = await hashReferences(open.keys(), signal);
  const found = new Map<OpenReference, Held<readonly Version[]>[]>();
  for (const run of runs) {
    for (const [reference, versions] of await findVersions(run, { open, hashes }, ledger))
      for (const listed of open.get(reference) ?? [])
        if (listed.day <= run.day) push(found, listed, { runId: run.runId, item: versions });
    await giveWay(signal);
  }
  const byCase: HeldByCase<readonly Version[]> = new Map();
  for (const [listed, versions] of found)
    if (!versions.every(({ item }) => isSame(listed, item) && areHere(item, listed)))
      for (const version of versions) push(byCase, listed.id, version);
  return changeCases(ledger.cases, [...byCase.keys()], (held) => {
    const now = clock();
    const acts: Act[] = [];
    let next = held;
    for (const [runId, versions] of groupByRun(byCase.get(held.id), runIds)) {
      const day = byId.get(runId)?.day ?? '';
      const isFollowed = new Set(
        next.bookings
          .filter((booking) => booking.day <= day && stateOfBooking(booking, today) === 'open')
          .map(({ reference }) => reference),
      );
      const newer = versions.flat().filter(({ reference }) => isFollowed.has(reference));
      const followed = applyVersions(
        next,
        newer.map(({ key, ...stay }) => ({ ...stay, isHere: key === keyOfCase(held) })),
        now,
      );
      if (followed !== next) acts.push({ who: automatic, at: now, action: 'case-updated', details: { day } });
      next = followed;
    }
    return toDecision(held, next, acts);
  });
}

function areHere(versions: readonly Version[], listed: OpenReference): boolean {
  const here = keyOfCase(listed);
  return versions.every(({ key }) => key === here);
}

/** Ascending, each once. */
async function hashReferences(
  references: Iterable<string>,
  signal: AbortSignal | undefined,
): Promise<Uint32Array> {
  const hashes = new Set<number>();
  await forEachGivingWay(references, signal, (reference) => hashes.add(hashReference(reference)));
  return Uint32Array.from(hashes).sort();
}

/** What a run holds about these references. */
async function findVersions(
  run: StayRun,
  { open, hashes }: { readonly open: OpenReferences; readonly hashes: Uint32Array },
  { stays: index }: Ledger,
): Promise<ReadonlyMap<string, readonly Version[]>> {
  const found = new Map<string, Version[]>();
  for await (const bookings of readFound(index, run, await index.findReferences(run, hashes)))
    for (const { booking } of bookings) {
      const { bookingReferenceId: reference, checkInDate, checkOutDate, serviceId } = booking;
      if (reference === undefined || !open.has(reference)) continue;
      const { providerName = '', providerHotelId = '' } = booking;
      push(found, reference, {
        reference,
        key: keyOfCase({ providerName, providerHotelId, serviceId }),
        ...(checkInDate !== undefined && { checkIn: checkInDate }),
        ...(checkOutDate !== undefined && { checkOut: checkOutDate }),
        day: run.day,
      });
    }
  return found;
}

/** What each run holds about one case, in the order of the runs. */
function groupByRun<Item>(
  held: readonly Held<Item>[] | undefined,
  runIds: readonly string[],
): readonly (readonly [runId: string, items: readonly Item[]])[] {
  const byRun = new Map<string, Item[]>();
  for (const { runId, item } of held ?? []) push(byRun, runId, item);
  return runIds.flatMap((runId) => {
    const items = byRun.get(runId);
    return items ? [[runId, items] as const] : [];
  });
}

function push<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const known = map.get(key);
  if (known) known.push(value);
  else map.set(key, [value]);
}
