import { forEachYielding, yieldToEventLoop } from '../base/event-loop.js';
import type { Booking } from '../booking/booking.js';
import { isOver, stayOf } from '../booking/stay.js';
import type { Ledger } from '../ledger/ledger.js';
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
import { applyEvidence, automatic, type Evidence, toDecision } from '../rules/case-transitions.js';
import type { NotifyCases } from './events.js';

/** A mapping that is wrong or doubtful, and who found it. */
export interface Finding extends CaseKey {
  readonly origin: CaseOrigin;
  readonly move?: CaseMove | undefined;
  /** When the verdict or the move happened, in epoch milliseconds. Only a later move corrects the case. */
  readonly at: number;
  /** The bookings that it names. */
  readonly references?: readonly string[] | undefined;
  /** The stay of the booking that it names, as it was found: a later run may have moved it elsewhere. */
  readonly stay?: CaseStay | undefined;
  /** A newer file calls them correct: their case says so, and stays. */
  readonly isCleared?: boolean;
}

/** A finding that names a booking. Empty for a stay that is over, or without the provider's hotel. */
export function toFinding(
  booking: Booking,
  {
    origin,
    at,
    day,
    today,
  }: Pick<Finding, 'origin' | 'at'> & { readonly day: string; readonly today: string },
): Finding[] {
  const { providerName, providerHotelId, serviceId, bookingReferenceId: reference } = booking;
  const dates = stayOf(booking, day);
  if (providerName === undefined || providerHotelId === undefined || isOver(dates, today)) return [];
  const references = reference === undefined ? [] : [reference];
  const stay = { reference, ...dates, day };
  return [{ providerName, providerHotelId, serviceId, references, stay, origin, at }];
}

/** All findings about one case; those that differ only in the bookings they name are merged. */
export interface CaseFindings extends CaseKey {
  readonly findings: (Pick<Evidence, 'origin' | 'move' | 'at'> & {
    readonly references: Set<string>;
    /** By reference, those whose stay was found with it. */
    readonly named: Map<string, CaseStay>;
  })[];
}

/**
 * Gathers findings by case. Merged, a finding that names a booking takes a sixth of the memory: a day may have a hundred
 * thousand.
 */
export function gatherFindings(
  findings: readonly Finding[],
  gathered: Map<string, CaseFindings> = new Map(),
): ReadonlyMap<string, CaseFindings> {
  for (const {
    providerName,
    providerHotelId,
    serviceId,
    origin,
    move,
    at,
    references = [],
    stay,
  } of findings) {
    const key = keyOfCase({ providerName, providerHotelId, serviceId });
    const group = gathered.get(key) ?? { providerName, providerHotelId, serviceId, findings: [] };
    gathered.set(key, group);
    let same = group.findings.find((one) => one.at === at && one.origin === origin && one.move === move);
    if (!same) {
      same = { origin, move, at, references: new Set(), named: new Map() };
      group.findings.push(same);
    }
    for (const reference of references) same.references.add(reference);
    if (stay?.reference !== undefined) same.named.set(stay.reference, stay);
  }
  return gathered;
}

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

/** The stays of each case that are not over, by its key. */
type StaysByCase = ReadonlyMap<string, readonly CaseStay[]>;

/** Few, because other writers of cases wait for a transaction; with SQLite, so does the whole process. */
export const casesPerTransaction = 25;

/** The most cases, and bookings added to them, that a transaction writes. */
const mostWritten = { cases: casesPerTransaction, bookings: 500 };

/**
 * Opens the cases of these findings, or adds their origins to existing ones. Each case gets every booking on its provider
 * hotel, booked as that master hotel, whose stay is not over. A finding without such a booking opens no case. Idempotent.
 *
 * @param known the stays, if they have just been read
 * @returns whether it names a booking that a later run has moved elsewhere: what later runs say about it is to be followed then
 */
export async function openCases(
  gathered: ReadonlyMap<string, CaseFindings>,
  parts: CaseParts,
  known?: StaysByCase,
): Promise<boolean> {
  const opened = { cases: 0, bookings: 0 };
  let hasOutdated = false;
  try {
    const slices = known ? [{ groups: [...gathered.values()], stays: known }] : readStays(gathered, parts);
    for await (const { groups, stays } of slices) {
      const countStays = (group: CaseFindings) => stays.get(keyOfCase(group))?.length ?? 0;
      for (const some of split(groups, mostWritten, countStays)) {
        await yieldToEventLoop();
        const { added, outdated } = await openTogether(some, stays, parts);
        hasOutdated ||= outdated > 0;
        for (const bookings of added) {
          opened.cases += 1;
          opened.bookings += bookings;
        }
      }
    }
  } finally {
    // Reported even if the rest failed, because these cases are not opened again.
    if (opened.cases > 0) parts.notify?.({ type: 'case-opened', ...opened });
  }
  return hasOutdated;
}

/** Splits cases into parts with at most so many cases and bookings; a case is never split. */
function split(
  groups: readonly CaseFindings[],
  most: { readonly cases: number; readonly bookings: number },
  countBookings: (group: CaseFindings) => number,
): CaseFindings[][] {
  const parts: CaseFindings[][] = [];
  let bookings = 0;
  for (const group of groups) {
    const own = countBookings(group);
    const last = parts.at(-1);
    if (last && last.length < most.cases && bookings + own <= most.bookings) {
      last.push(group);
      bookings += own;
    } else {
      parts.push([group]);
      bookings = own;
    }
  }
  return parts;
}

/** The cases, some at a time, with their stays. */
async function* readStays(
  groups: ReadonlyMap<string, CaseFindings>,
  { ledger, today, signal }: CaseParts,
): AsyncGenerator<{ readonly groups: readonly CaseFindings[]; readonly stays: StaysByCase }> {
  // At the same hotels, there may be a hundred times as many stays on other mappings.
  const isWanted = (stay: CaseKey) => groups.has(keyOfCase(stay));
  for await (const slice of readStaysAhead(ledger, [...groups.values()], { today, isWanted, signal })) {
    const stays = new Map<string, CaseStay[]>(slice.hotels.map((group) => [keyOfCase(group), []]));
    await forEachYielding(slice.stays, signal, (stay) => stays.get(keyOfCase(stay))?.push(stay));
    yield { groups: slice.hotels, stays };
  }
}

/**
 * In one transaction. Returns the number of new bookings of each case that was opened or reopened, and how many named ones a later
 * run has moved elsewhere.
 */
async function openTogether(
  groups: readonly CaseFindings[],
  found: StaysByCase,
  { ledger, clock }: CaseParts,
): Promise<{ readonly added: readonly number[]; readonly outdated: number }> {
  const copied = await ledger.mappings.lookUp(groups);
  const isBooked = new Map(
    groups.map((group, index) => [keyOfCase(group), copied[index]?.serviceId === group.serviceId]),
  );
  const now = clock();
  const opened = new Map<string, number>();
  let outdated = 0;
  await ledger.cases.changeByKey(groups, (held, group) => {
    const key = keyOfCase(group);
    // A second try, after a lost connection, may find that another process has opened the case.
    opened.delete(key);
    const stays = found.get(key) ?? [];
    const isBookedInCopy = isBooked.get(key) === true;
    let next: HeldCase | CaseContent | undefined = held;
    for (const finding of group.findings) {
      const moved = findOutdated(finding.named, stays, next?.bookings ?? []);
      outdated += moved.length;
      const known = new Set(next?.bookings.map(({ reference }) => reference));
      const joining = moved.filter(({ reference }) => !known.has(reference));
      next = applyEvidence(next, { ...finding, stays: [...stays, ...joining], isBookedInCopy }, now);
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
