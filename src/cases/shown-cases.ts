import { forEachYielding, yieldIfDue } from '../base/event-loop.js';
import type { Booking } from '../booking/booking.js';
import type { ExtraValues } from '../booking/extra-values.js';
import { describeInHouse, urgencyOf } from '../booking/stay.js';
import { readBooking } from '../booking/stored-line.js';
import { readActions } from '../ledger/audit.js';
import type { CaseFilter, CaseSummary } from '../ledger/cases.js';
import type { ReadOnlyLedger } from '../ledger/ledger.js';
import type { Trace } from '../ledger/tracing.js';
import { type CopiedHotel, readCopiedHotels } from '../mappings/copied-hotels.js';
import { createHotelComparer, type HotelPair, type LocatedHotel } from '../mappings/hotels/compare-hotels.js';
import { pairColumns, pairToCells, pairToJson } from '../mappings/hotels/shown-hotels.js';
import type { RecordedAction } from '../rules/action.js';
import { type Case, type CaseBooking, type CaseKey, keyOfCase, stateOfBooking } from '../rules/case.js';
import { judgeBooking } from '../rules/verdict.js';
import { KeyError } from '../storage/day-keys.js';

/* Cases as people and programs see them: lists, searches, and one case with all of its bookings. */

export interface ListedCase extends CaseSummary, CopiedHotel {
  readonly hotels: HotelPair;
  /** From its most urgent open booking. */
  readonly extraValues?: ExtraValues | undefined;
}

/** Others get their turn in between. */
const comparedAtOnce = 250;

/**
 * With their hotels; guests in house first, then the nearest check-in. Check-ins of the same day are ordered by the local time
 * at their hotels, which SQL can't tell, only the content of these: so a page of the list needs the whole list.
 */
export async function findCases(
  ledger: ReadOnlyLedger,
  filter: CaseFilter,
  now: number,
): Promise<readonly ListedCase[]> {
  const listed = await ledger.cases.list(filter);
  const compareHotels = createHotelComparer({ hotels: ledger.hotels, clock: () => now });
  const found: ListedCase[] = [];
  for (let from = 0; from < listed.length; from += comparedAtOnce) {
    const some = listed.slice(from, from + comparedAtOnce);
    const stays = some.map((item) => ({ ...item, checkInDate: item.firstCheckIn }));
    found.push(...(await compareHotels(await readCopiedHotels(ledger.mappings, stays))));
    await yieldIfDue();
  }
  return found
    .map((item) => ({ item, urgency: urgencyOfCase(item), hours: item.hotels.hoursToCheckIn ?? 0 }))
    .sort((a, b) => compare(a.urgency, b.urgency) || a.hours - b.hours || a.item.id - b.item.id)
    .map(({ item }) => item);
}

/** The first of `findCases`, without those that were dismissed. It reads no others, which takes long where there are thousands. */
export async function findUrgentCases(
  ledger: ReadOnlyLedger,
  { today, most }: { readonly today: string; readonly most: number },
  now: number,
) {
  const open = await ledger.cases.rankOpen(today);
  const last = open[most - 1]?.urgency ?? '3';
  // Only their hotels order the cases with the same check-in.
  const ids = open.filter(({ urgency }) => urgency <= last).map(({ id }) => id);
  const found = ids.length === 0 ? [] : await findCases(ledger, { state: 'all', ids, today }, now);
  return { cases: found.slice(0, most), total: open.length };
}

/** The same order as that of bookings: see `urgencyOf` of a stay. Cases without open bookings come last. */
function urgencyOfCase({ openBookings, inHouse, hasUnknownCheckIn, firstCheckIn = '' }: CaseSummary): string {
  if (openBookings === 0) return '3';
  if (inHouse > 0) return `0${firstCheckIn}`;
  return hasUnknownCheckIn ? '1' : `2${firstCheckIn}`;
}

/** Adds the extra columns of each case's most urgent guest, if there are any. */
export async function withExtra(
  ledger: ReadOnlyLedger,
  cases: readonly ListedCase[],
  labels: readonly string[],
  today: string,
): Promise<readonly ListedCase[]> {
  if (labels.length === 0) return cases;
  const ids = cases.map(({ id }) => id);
  const references = await ledger.cases.findNextReferences(ids, today);
  const extraValues = await ledger.bookings.findExtra([...new Set(references.values())]);
  return cases.map((item) => ({ ...item, extraValues: extraValues.get(references.get(item.id) ?? '') }));
}

/** A case as `cases --json` lists it; null stands for unknown. */
export function caseToJson(item: ListedCase) {
  const { id, providerName, providerHotelId, serviceId, copyServiceId, copy, state, origins } = item;
  const { bookings, openBookings, firstCheckIn = null, hasUnknownCheckIn } = item;
  const { inHouse, inHouseUntil = null, leftBookings, move = null, assignee = null, note = null } = item;
  return {
    ...{ id, providerName, providerHotelId, serviceId, copyServiceId, copy, state, origins },
    // A booking without a check-in may be for tomorrow.
    bookings,
    openBookings,
    firstCheckIn,
    hasUnknownCheckIn,
    inHouse,
    inHouseUntil,
    leftBookings,
    openedAt: new Date(item.openedAt).toISOString(),
    stateSince: new Date(item.stateSince).toISOString(),
    move,
    assignee,
    note,
    ...(item.extraValues && { kept: item.extraValues }),
    ...pairToJson(item.hotels),
  };
}

const caseColumns = [
  ...['id', 'firstCheckIn', 'state', 'openBookings', 'bookings', 'inHouse', 'inHouseUntil', 'leftBookings'],
  ...['providerName', 'providerHotelId'],
  ...['serviceId', 'copyServiceId', 'copy', 'origins', 'move', 'openedAt', 'stateSince', 'assignee', 'note'],
];

/** The columns of `--csv`. */
export function listCaseColumns(extraLabels: readonly string[]): string[] {
  return [...caseColumns, ...extraLabels, ...pairColumns];
}

export function caseToCells(item: ListedCase): Record<string, unknown> {
  return {
    ...item.extraValues,
    ...caseToJson(item),
    origins: item.origins.join(' '),
    ...pairToCells(item.hotels),
  };
}

interface CheckInOfCase {
  readonly firstCheckIn?: string | null | undefined;
  readonly hasUnknownCheckIn?: boolean | undefined;
  readonly inHouse: number;
  readonly inHouseUntil?: string | null | undefined;
}

/** When help is needed, for people. @param show writes a day */
export function nameCheckIn(
  { firstCheckIn, hasUnknownCheckIn, inHouse, inHouseUntil }: CheckInOfCase,
  show = (day: string) => day,
): string {
  const first = firstCheckIn && show(firstCheckIn);
  if (inHouse > 0) return describeInHouse(first ?? 'an unknown day', inHouseUntil && show(inHouseUntil));
  return hasUnknownCheckIn ? 'unknown' : (first ?? 'unknown');
}

/** The criteria of a search. */
interface CaseSearch extends CaseFilter {
  /** The country of one of the two hotels: its code or, without one, its name. */
  readonly country?: string | undefined;
  /** Null for unassigned cases. */
  readonly assignee?: string | null | undefined;
  /** Part of a hotel's name or of the provider's hotel id, regardless of case and accents. */
  readonly text?: string | undefined;
  /** Whether the text may also be a whole booking reference. */
  readonly findsReferences: boolean;
}

/** Searches cases by their hotels, too, and says what those of this state and check-in can be narrowed down to. */
export async function searchCases(
  ledger: ReadOnlyLedger,
  { country, assignee, text = '', provider, findsReferences, ...filter }: CaseSearch,
  now: number,
) {
  const all = await findCases(ledger, filter, now);
  const ids = findsReferences && text !== '' ? await findByReference(ledger, text) : new Set<number>();
  const sought = fold(text);
  const isFound = (item: ListedCase): boolean => {
    if (provider !== undefined && item.providerName !== provider) return false;
    if (assignee !== undefined && (item.assignee ?? null) !== assignee) return false;
    const hotels = hotelsOf(item);
    if (country !== undefined && !hotels.some((hotel) => countryOf(hotel)?.id === country)) return false;
    const texts = [item.providerHotelId, ...hotels.map(({ name = '' }) => name)];
    return ids.has(item.id) || texts.some((one) => fold(one).includes(sought));
  };
  const cases: ListedCase[] = [];
  const countries = new Map<string, { readonly id: string; readonly name: string }>();
  await forEachYielding(all, undefined, (item) => {
    if (isFound(item)) cases.push(item);
    for (const country of hotelsOf(item).flatMap((hotel) => countryOf(hotel) ?? []))
      countries.set(country.id, country);
  });
  return {
    /** In the order of `findCases`. */
    cases,
    choices: {
      providers: sortUnique(all.map(({ providerName }) => providerName)),
      countries: [...countries.values()].sort((one, other) => compare(one.name, other.name)),
      assignees: sortUnique(all.flatMap(({ assignee }) => assignee ?? [])),
    },
  };
}

function hotelsOf({ hotels: { bookedHotel, copyHotel } }: ListedCase): LocatedHotel[] {
  return [bookedHotel ?? [], copyHotel ?? []].flat();
}

/** Known by its code or, without one, by its name. */
function countryOf({ countryCode, country: name = countryCode }: LocatedHotel) {
  const id = countryCode ?? name;
  return id === undefined || name === undefined ? undefined : { id, name };
}

/** The cases with a booking of that reference, in any case. */
async function findByReference({ cases }: ReadOnlyLedger, reference: string): Promise<Set<number>> {
  const found = await cases.findBookingsInAnyCase(reference);
  const sought = foldCase(reference);
  return new Set(
    found.flatMap(({ id, booking }) => (foldCase(booking.reference ?? '') === sought ? [id] : [])),
  );
}

/** For comparing texts without regard to case and accents. */
function fold(text: string): string {
  return foldCase(text.normalize('NFKD').replace(/\p{M}/gu, ''));
}

/** Some letters have two forms in lower case, such as the Greek sigma, but one in upper case. */
function foldCase(text: string): string {
  return text.normalize('NFKC').toUpperCase().trim();
}

function sortUnique(texts: readonly string[]): string[] {
  return [...new Set(texts)].sort(compare);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

/** A case with its hotels, its bookings and what was done about it. */
export type ShownCase = NonNullable<Awaited<ReturnType<typeof showCase>>>;

/**
 * Undefined if there is no such case.
 *
 * @param today YYYY-MM-DD, in the account's zone
 * @param labels the configured extra columns
 */
export async function showCase(
  ledger: ReadOnlyLedger,
  id: number,
  asked: { readonly today: string; readonly now: number; readonly labels: readonly string[] },
) {
  const { today, now, labels } = asked;
  const held = await ledger.cases.find(id);
  const [item] = await findCases(ledger, { state: 'all', ids: [id], today }, now);
  if (!held || !item) return undefined;
  const references = held.bookings.flatMap(({ reference }) => reference ?? []);
  const extraValues = labels.length > 0 ? await ledger.bookings.findExtra(references) : undefined;
  const history: RecordedAction[] = [];
  for await (const actions of readActions(ledger.audit, { subject: `case ${id}` }))
    history.push(...actions.filter(({ action }) => action !== 'case'));
  return {
    ...item,
    /** Open ones first: of guests in house, then with the nearest check-in. */
    bookingList: held.bookings
      .map((booking) => ({
        ...booking,
        state: stateOfBooking(booking, today),
        extraValues: extraValues?.get(booking.reference ?? ''),
        urgency: urgencyOf(booking, today),
      }))
      .sort(
        (one, other) =>
          Number(one.state !== 'open') - Number(other.state !== 'open') ||
          compare(one.urgency, other.urgency),
      ),
    /** Who changed it, and when, oldest entry first. Looks are left out. */
    history,
  };
}

/** Bookings that are looked up at the same time: each takes about ten round trips to a server. */
const lookedUpAtOnce = 10;

/**
 * What the newest run of its day says about each of these bookings of a case: its guests, and whether the service cleared it. By
 * reference; a booking whose lines cannot be read any more is absent.
 *
 * @param showsNames whether guests may be named
 */
export async function readStoredBookings(
  ledger: ReadOnlyLedger,
  item: Case,
  bookings: readonly CaseBooking[],
  showsNames: boolean,
) {
  const stored = new Map<string, { readonly guests: readonly string[]; readonly isCleared: boolean }>();
  const sought = bookings.filter(({ reference }) => reference !== undefined);
  for (let from = 0; from < sought.length; from += lookedUpAtOnce)
    await Promise.all(
      sought.slice(from, from + lookedUpAtOnce).map(async (booking) => {
        const { reference = '', day } = booking;
        const newest = await findNewest(ledger, item, reference, day);
        if (newest.length === 0) return;
        const names = newest.flatMap(({ line }) => readBooking(line).bookingClientName ?? []);
        stored.set(reference, {
          guests: showsNames ? [...new Set(names)] : [],
          isCleared: isCleared(item, booking, newest),
        });
      }),
    );
  return stored;
}

/**
 * Whether the service called the booking's mapping correct after the local copy had raised a doubt, and nothing else speaks against it. A
 * verdict from before says nothing of what moved or was found since. Several lines are stays or rooms of one booking.
 */
function isCleared(
  { origins, evidenceAt }: Case,
  { isNamed }: CaseBooking,
  traces: readonly BookingTrace[],
): boolean {
  const isOnlyDoubt = !isNamed && origins.every((origin) => origin === 'suspect');
  return (
    isOnlyDoubt &&
    traces.every(
      (trace) => (trace.run.finishedAt ?? 0) >= evidenceAt && judgeBooking(trace).verdict === 'correct',
    )
  );
}

type BookingTrace = Extract<Trace, { readonly kind: 'booking' }>;

/** The lines of a booking on this mapping in the newest run of that day. */
async function findNewest({ bookings }: ReadOnlyLedger, key: CaseKey, reference: string, day: string) {
  try {
    const here = (await bookings.trace(reference, day)).filter(
      (trace) => trace.kind === 'booking' && isOnMapping(readBooking(trace.line), key),
    );
    return here.flatMap((trace) =>
      trace.kind === 'booking' && trace.run.id === here[0]?.run.id ? [trace] : [],
    );
  } catch (error) {
    // The case itself is readable without the key of that day.
    if (error instanceof KeyError) return [];
    throw error;
  }
}

function isOnMapping({ providerName = '', providerHotelId = '', serviceId }: Booking, key: CaseKey): boolean {
  return keyOfCase({ providerName, providerHotelId, serviceId }) === keyOfCase(key);
}

/** A case as `case ID --json` prints it. */
export function shownCaseToJson(item: ShownCase) {
  return {
    ...caseToJson(item),
    bookingList: item.bookingList.map(
      ({ reference, place, checkIn, checkOut, resolved, isNamed, state, extraValues }) => ({
        reference: reference ?? null,
        checkIn: checkIn ?? null,
        checkOut: checkOut ?? null,
        state,
        ...(resolved && {
          resolvedAs: resolved.as,
          resolvedAt: new Date(resolved.at).toISOString(),
          note: resolved.note ?? null,
        }),
        ...{ isNamed, place },
        ...(extraValues && { kept: extraValues }),
      }),
    ),
    history: item.history.map(({ at, who, action, details }) => ({
      ...{ at: new Date(at).toISOString(), who, action },
      ...details,
    })),
  };
}
