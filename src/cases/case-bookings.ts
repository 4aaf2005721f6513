import { forEachYielding, yieldToEventLoop } from '../base/event-loop.js';
import { addTo } from '../base/group.js';
import { hashReference } from '../booking/booking.js';
import { stayOf } from '../booking/stay.js';
import type { OpenReference } from '../ledger/cases.js';
import type { Ledger } from '../ledger/ledger.js';
import type { StayRun } from '../ledger/stays.js';
import { type FoundBooking, readCurrent, readStaysAhead } from '../review/stays/stays-ahead.js';
import { type CaseKey, type CaseStay, keyOfCase, stateOfBooking } from '../rules/case.js';
import {
  addStays,
  applyVersions,
  automatic,
  type NewerVersion,
  toDecision,
} from '../rules/case-transitions.js';
import type { NotifyCases } from './events.js';

/* Keeps the bookings of cases in line with the days' runs. */

/** What all work on cases needs. */
export interface CaseParts {
  readonly ledger: Ledger;
  /** YYYY-MM-DD, in the account's zone. */
  readonly today: string;
  readonly clock: () => number;
  readonly notify?: NotifyCases | undefined;
  /** Aborting it throws the signal's reason before the next write. */
  readonly signal?: AbortSignal | undefined;
}

/** Few, because other writers of cases wait for a transaction; with SQLite, so does the whole process. */
export const casesPerTransaction = 25;

/** Changes cases, some in each transaction. Returns how many changed. */
export async function changeCases(
  { cases }: Ledger,
  ids: readonly number[],
  decide: Parameters<Ledger['cases']['changeById']>[1],
): Promise<number> {
  let changed = 0;
  for (let from = 0; from < ids.length; from += casesPerTransaction) {
    if (from > 0) await yieldToEventLoop();
    changed += (await cases.changeById(ids.slice(from, from + casesPerTransaction), decide)).length;
  }
  return changed;
}

/** Follows the bookings of all days since that one. */
export async function followSince(first: string, parts: CaseParts): Promise<void> {
  const runs = await parts.ledger.stays.listStayRuns();
  for (const day of new Set(runs.map((run) => run.day).reverse())) {
    if (day < first) continue;
    await yieldToEventLoop(parts.signal);
    await followDay(day, parts);
  }
}

/**
 * If the day holds a newer version of a case's booking, the booking is rebooked if the hotel differs, and updated if the dates differ;
 * the day's bookings on the mapping of an active case join it. The whole day, because a run that tops it up holds only what was not
 * delivered before, whatever it found in the source.
 */
export async function followDay(day: string, parts: CaseParts): Promise<void> {
  const runs = await parts.ledger.stays.listStayRuns();
  await followVersions(
    runs.filter((run) => run.day === day),
    parts,
  );
  await joinCases(day, parts);
}

/** Of runs of one day. */
async function followVersions(runs: readonly StayRun[], parts: CaseParts): Promise<void> {
  const { ledger, today, clock } = parts;
  for await (const open of readOpenReferences(parts)) {
    const versions = new Map<number, (CaseStay & { readonly reference: string; readonly key: string })[]>();
    for (const run of runs)
      for await (const { reference, key, booking } of readReferences(run, open.keys(), parts))
        for (const { id } of open.get(reference) ?? [])
          addTo(versions, id, { reference, key, ...stayOf(booking, run.day), day: run.day });
    await changeCases(ledger, [...versions.keys()], (held) => {
      const now = clock();
      const waiting = held.bookings.filter((booking) => stateOfBooking(booking, today) === 'open');
      const newer = (versions.get(held.id) ?? [])
        .filter(({ reference, day }) => waiting.some((one) => one.reference === reference && one.day <= day))
        .map(({ key, ...stay }): NewerVersion => ({ ...stay, isHere: key === keyOfCase(held) }));
      const details = { day: newer[0]?.day };
      const updated = { who: automatic, at: now, action: 'case-updated', details } as const;
      return toDecision(held, applyVersions(held, newer, now), [updated]);
    });
  }
}

/** The stays of the day on the mappings of active cases join these. */
async function joinCases(day: string, { ledger, today, clock, signal }: CaseParts): Promise<void> {
  const active = new Map((await ledger.cases.listActive()).map((item) => [keyOfCase(item), item]));
  const isWanted = (stay: CaseKey) => active.has(keyOfCase(stay));
  const options = { today, day, isWanted, signal };
  for await (const { stays } of readStaysAhead(ledger, [...active.values()], options)) {
    const joining = new Map<number, CaseStay[]>();
    for (const stay of stays) addTo(joining, active.get(keyOfCase(stay))?.id ?? 0, stay);
    await changeCases(ledger, [...joining.keys()], (held) => {
      const now = clock();
      const joined = addStays(held, { stays: joining.get(held.id) ?? [], references: new Set() }, now);
      const details = { bookings: joined.bookings.length - held.bookings.length };
      return toDecision(held, joined, [{ who: automatic, at: now, action: 'case-updated', details }]);
    });
  }
}

/** Each look-up of some of them reads the index of a run; a read of many would hold up everything else. */
const referencesAtOnce = 10_000;

/** The open bookings of cases by their references, some at a time. */
export async function* readOpenReferences({
  ledger: { cases },
  today,
  signal,
}: CaseParts): AsyncGenerator<ReadonlyMap<string, readonly OpenReference[]>, void, undefined> {
  for (let after: OpenReference | undefined; ; ) {
    const found = await cases.listOpenReferences(today, { after, limit: referencesAtOnce });
    after = found.at(-1);
    if (!after) return;
    const open = new Map<string, OpenReference[]>();
    for (const item of found) addTo(open, item.reference, item);
    await yieldToEventLoop(signal);
    yield open;
  }
}

/** What a run holds under these references, and under some others; without what a later collect of its day has replaced. */
export async function* readReferences(
  run: StayRun,
  references: Iterable<string>,
  { ledger, signal }: CaseParts,
): AsyncGenerator<FoundBooking & { readonly reference: string; readonly key: string }, void, undefined> {
  const hashes = new Set<number>();
  await forEachYielding(references, signal, (reference) => hashes.add(hashReference(reference)));
  const found = await ledger.stays.findReferences(run, Uint32Array.from(hashes).sort());
  for await (const bookings of readCurrent(ledger, run, found))
    for (const one of bookings) {
      const { booking } = one;
      const { bookingReferenceId: reference, providerName = '', providerHotelId = '', serviceId } = booking;
      const key = keyOfCase({ providerName, providerHotelId, serviceId });
      if (reference !== undefined) yield { ...one, reference, key };
    }
}
