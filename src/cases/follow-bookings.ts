import { forEachGivingWay, giveWay } from '../async/give-way.js';
import { hashReference } from '../booking/reference-hash.js';
import {
  type Case,
  type CaseStay,
  keyOfCase,
  type OpenReference,
  type ReferencePage,
  stateOfBooking,
} from '../ledger/case.js';
import { readFound, readStaysAhead } from '../review/stays/stays-ahead.js';
import { addStays, applyVersions } from './case-bookings.js';
import { automatic, toDecision } from './case-transitions.js';
import { changeCases, readActiveCases } from './follow-mappings.js';
import type { CaseParts } from './open-cases.js';

/**
 * If a run holds a newer version of a case's booking, the booking is rebooked if the hotel differs, and updated if the dates
 * differ; the run's bookings on the mapping of an active case join it.
 */
export async function followBookings(runId: string, parts: CaseParts): Promise<void> {
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
  const active = new Map<string, Case>();
  for await (const cases of readActiveCases(ledger, signal))
    for (const item of cases) active.set(keyOfCase(item), item);
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
async function readOpenReferences({
  ledger: { cases },
  today,
  signal,
}: CaseParts): Promise<ReadonlyMap<string, readonly OpenReference[]>> {
  const open = new Map<string, OpenReference[]>();
  let page: ReferencePage | undefined = { limit: rowsAtOnce };
  while (page) {
    const found: readonly OpenReference[] = await cases.listOpenReferences(today, page);
    for (const item of found) push(open, item.reference, item);
    page = found.length < rowsAtOnce ? undefined : { ...page, after: found.at(-1) };
    await giveWay(signal);
  }
  return open;
}

function push<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const known = map.get(key);
  if (known) known.push(value);
  else map.set(key, [value]);
}
