import { forEachYielding, yieldToEventLoop } from '../base/event-loop.js';
import { addTo } from '../base/group.js';
import type { Booking } from '../booking/booking.js';
import { isOver, stayOf } from '../booking/stay.js';
import { readStaysAhead } from '../review/stays/stays-ahead.js';
import {
  type CaseBooking,
  type CaseContent,
  type CaseKey,
  type CaseMove,
  type CaseOrigin,
  type CaseStay,
  type HeldCase,
  isActiveCase,
  keyOfCase,
} from '../rules/case.js';
import { applyEvidence, automatic, toDecision } from '../rules/case-transitions.js';
import { type CaseParts, casesPerTransaction, followSince } from './case-bookings.js';

/** A mapping that is wrong or doubtful, and who found it. */
export interface CaseFinding extends CaseKey {
  readonly origin: CaseOrigin;
  readonly move?: CaseMove | undefined;
  /** When the verdict or the move happened, in epoch milliseconds. Only a later move corrects the case. */
  readonly at: number;
  /** The stay of the booking that it names, as it was found: a later run may have moved it elsewhere. */
  readonly stay?: CaseStay | undefined;
}

/** A finding that names a booking. Empty for a stay that is over, or without the provider's hotel. */
export function toCaseFinding(
  booking: Booking,
  about: { readonly origin: CaseOrigin; readonly at: number; readonly day: string; readonly today: string },
): CaseFinding[] {
  const { providerName, providerHotelId, serviceId, bookingReferenceId: reference } = booking;
  const { origin, at, day, today } = about;
  const dates = stayOf(booking, day);
  if (providerName === undefined || providerHotelId === undefined || isOver(dates, today)) return [];
  return [{ providerName, providerHotelId, serviceId, stay: { reference, ...dates, day }, origin, at }];
}

/** All findings about one case. Those that differ only in the bookings they name are one: a day may have a hundred thousand. */
interface FindingsOfCase extends CaseKey {
  readonly findings: (Omit<CaseFinding, 'stay' | keyof CaseKey> & {
    /** By reference. */
    readonly named: Map<string, CaseStay>;
  })[];
}

function gatherByCase(findings: readonly CaseFinding[]): readonly FindingsOfCase[] {
  const gathered = new Map<string, FindingsOfCase>();
  for (const finding of findings) {
    const { providerName, providerHotelId, serviceId, origin, move, at, stay } = finding;
    const key = keyOfCase(finding);
    const group = gathered.get(key) ?? { providerName, providerHotelId, serviceId, findings: [] };
    gathered.set(key, group);
    let same = group.findings.find((one) => one.at === at && one.origin === origin && one.move === move);
    if (!same) {
      same = { origin, move, at, named: new Map() };
      group.findings.push(same);
    }
    if (stay?.reference !== undefined) same.named.set(stay.reference, stay);
  }
  return [...gathered.values()];
}

/**
 * Opens the cases of these findings, or adds their origins to existing ones. Each case gets every booking on its provider
 * hotel, booked as that master hotel, whose stay is not over. A finding without such a booking opens no case. Where one names a booking
 * that a later run has moved elsewhere, what later runs say about it is followed. Idempotent.
 */
export async function openCases(found: readonly CaseFinding[], parts: CaseParts): Promise<void> {
  const { ledger, today, signal, notify } = parts;
  const groups = gatherByCase(found);
  const opened = { cases: 0, bookings: 0 };
  const outdated: CaseStay[] = [];
  // At the same hotels, there may be a hundred times as many stays on other mappings.
  const keys = new Set(groups.map(keyOfCase));
  const isWanted = (stay: CaseKey) => keys.has(keyOfCase(stay));
  try {
    for await (const { hotels, stays } of readStaysAhead(ledger, groups, { today, isWanted, signal })) {
      const byCase = new Map<string, CaseStay[]>();
      await forEachYielding(stays, signal, (stay) => addTo(byCase, keyOfCase(stay), stay));
      for (let from = 0; from < hotels.length; from += casesPerTransaction) {
        await yieldToEventLoop();
        const some = hotels.slice(from, from + casesPerTransaction);
        const done = await openTogether(some, byCase, parts);
        for (const bookings of done.added) {
          opened.cases += 1;
          opened.bookings += bookings;
        }
        outdated.push(...done.outdated);
      }
    }
  } finally {
    // Reported even if the rest failed, because these cases are not opened again.
    if (opened.cases > 0) notify?.({ type: 'case-opened', ...opened });
  }
  const [first] = outdated.map(({ day }) => day).sort();
  if (first !== undefined) await followSince(first, parts);
}

/**
 * In one transaction. Returns the number of new bookings of each case that was opened or reopened, and the named stays that a later
 * run has moved elsewhere.
 */
async function openTogether(
  groups: readonly FindingsOfCase[],
  found: ReadonlyMap<string, readonly CaseStay[]>,
  { ledger, clock }: CaseParts,
): Promise<{ readonly added: readonly number[]; readonly outdated: readonly CaseStay[] }> {
  const copied = await ledger.mappings.lookUp(groups);
  const isBooked = new Map(
    groups.map((group, index) => [keyOfCase(group), copied[index]?.serviceId === group.serviceId]),
  );
  const now = clock();
  const opened = new Map<string, number>();
  const outdated: CaseStay[] = [];
  await ledger.cases.changeByKey(groups, (held, group) => {
    const key = keyOfCase(group);
    // A second try, after a lost connection, may find that another process has opened the case.
    opened.delete(key);
    const stays = found.get(key) ?? [];
    const isBookedInCopy = isBooked.get(key) === true;
    let next: HeldCase | CaseContent | undefined = held;
    for (const { named, ...finding } of group.findings) {
      const moved = findOutdated(named, stays, next?.bookings ?? []);
      outdated.push(...moved);
      const known = new Set(next?.bookings.map(({ reference }) => reference));
      const joining = moved.filter(({ reference }) => !known.has(reference));
      const references = new Set(named.keys());
      next = applyEvidence(
        next,
        { ...finding, references, stays: [...stays, ...joining], isBookedInCopy },
        now,
      );
    }
    if (!next) return undefined;
    const isOpened = isActiveCase(next) && !(held && isActiveCase(held));
    const bookings = next.bookings.length - (held?.bookings.length ?? 0);
    if (isOpened) opened.set(key, bookings);
    const origins = [...new Set(group.findings.map(({ origin }) => origin))].join(' ');
    const action = isOpened ? (held ? 'case-reopened' : 'case-opened') : 'case-updated';
    return toDecision(held, next, [{ who: automatic, at: now, action, details: { origins, bookings } }]);
  });
  return { added: [...opened.values()], outdated };
}

/** The named stays that are on this mapping no longer, unless their case knows that: it may not yet if a process died here. */
function findOutdated(
  named: ReadonlyMap<string, CaseStay>,
  stays: readonly CaseStay[],
  bookings: readonly CaseBooking[],
): CaseStay[] {
  if (named.size === 0) return [];
  const done = new Set(
    [...stays, ...bookings.filter(({ resolved }) => resolved)].map((one) => one.reference),
  );
  return [...named.values()].filter(({ reference }) => !done.has(reference));
}
