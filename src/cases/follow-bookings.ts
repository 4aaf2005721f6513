import { hashReference } from '../booking/reference-hash.js';
import { readFound } from '../review/stays/found-bookings.js';
import { readStaysAhead } from '../review/stays/stays-ahead.js';
import type { StayLedger, StayRun } from '../review/stays.js';
import { type CaseKey, type HeldCase, keyOfCase } from './case.js';
import { addStays, applyVersions, type CaseStay, type NewerVersion } from './case-bookings.js';
import { automatic, toDecision } from './case-decision.js';
import type { CaseStore, OpenReference } from './case-store.js';
import { changeCases } from './change-cases.js';

interface FollowBookingsParts {
  readonly ledger: StayLedger & { readonly cases: CaseStore };
  readonly today: string;
  readonly clock: () => number;
}

/** The run's bookings on the mapping of an active case join it. */
export async function joinBookings(
  runId: string,
  { ledger, today, clock }: FollowBookingsParts,
): Promise<void> {
  const active = new Map((await ledger.cases.listActive()).map((item) => [keyOfCase(item), item.id]));
  if (active.size === 0) return;
  const hotels = [...active.keys()].map(toHotel);
  const joining = new Map<number, CaseStay[]>();
  for await (const stays of readStaysAhead(ledger, hotels, { today, runId }))
    for (const stay of stays) {
      const id = active.get(keyOfCase(stay));
      if (id !== undefined) push(joining, id, stay);
    }
  await changeByCase(ledger.cases, joining, (held, stays) => {
    const now = clock();
    const next = addStays(held, { stays, references: new Set() }, now);
    const bookings = next.bookings.length - held.bookings.length;
    return toDecision(held, next, [
      { who: automatic, at: now, action: 'case-updated', details: { bookings } },
    ]);
  });
}

function toHotel(key: string) {
  const [providerName = '', providerHotelId = ''] = key.split('\0');
  return { providerName, providerHotelId };
}

/** Bookings of cases that the run holds in a newer version: with another hotel they are rebooked, with other dates updated. */
export async function followVersions(
  runId: string,
  { ledger, today, clock }: FollowBookingsParts,
): Promise<void> {
  const references = await ledger.cases.listOpenReferences(today);
  if (references.length === 0) return;
  const run = (await ledger.stays.listStayRuns()).find((run) => run.runId === runId);
  if (!run) return;
  const open = references.filter(({ day }) => day <= run.day);
  if (open.length === 0) return;
  const versions = await findVersions(run, open, ledger);
  const byCase = new Map<number, Version[]>();
  for (const { id, reference } of open)
    for (const version of versions.get(reference) ?? []) push(byCase, id, version);
  await changeByCase(ledger.cases, byCase, (held, found) => {
    const now = clock();
    const next = applyVersions(
      held,
      found.map((version) => toNewer(version, held)),
      now,
    );
    const details = { day: run.day };
    return toDecision(held, next, [{ who: automatic, at: now, action: 'case-updated', details }]);
  });
}

interface Version extends CaseStay {
  readonly reference: string;
  readonly key: string;
}

function toNewer({ key, ...stay }: Version, held: CaseKey): NewerVersion {
  return { ...stay, isHere: key === keyOfCase(held) };
}

async function findVersions(
  run: StayRun,
  open: readonly OpenReference[],
  { stays: index }: StayLedger,
): Promise<ReadonlyMap<string, Version[]>> {
  const wanted = new Set(open.map(({ reference }) => reference));
  const hashes = Uint32Array.from(new Set([...wanted].map(hashReference))).sort();
  const found = new Map<string, Version[]>();
  for await (const bookings of readFound(index, run, await index.findReferences(run, hashes)))
    for (const { booking } of bookings) {
      const { bookingReferenceId: reference, checkInDate, checkOutDate, serviceId } = booking;
      if (reference === undefined || !wanted.has(reference)) continue;
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

function changeByCase<Item>(
  cases: CaseStore,
  byCase: ReadonlyMap<number, readonly Item[]>,
  decide: (held: HeldCase, items: readonly Item[]) => ReturnType<typeof toDecision>,
): Promise<number> {
  return changeCases(cases, [...byCase.keys()], (held) => decide(held, byCase.get(held.id) ?? []));
}

function push<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const known = map.get(key);
  if (known) known.push(value);
  else map.set(key, [value]);
}
