import type { ProviderHotel } from '../mappings/mapping-copy.js';
import type { History, Trace } from '../review/history.js';
import { readBooking } from '../review/stored/stored-line.js';
import {
  type Case,
  type CaseKey,
  type CaseMove,
  type CaseOrigin,
  type HeldCase,
  isActiveCase,
  isAhead,
  keyOfCase,
} from './case.js';
import { type Act, automatic, toDecision } from './case-decision.js';
import type { NotifyCases } from './case-events.js';
import type { CaseDecision, CaseStore } from './case-store.js';
import { applyEvidence, type CaseContent, type CaseStay } from './case-transitions.js';

/** A mapping that is wrong or doubtful, and who found it. */
export interface Finding extends ProviderHotel {
  /** The master hotel, as booked. */
  readonly serviceId: number;
  readonly origin: CaseOrigin;
  readonly move?: CaseMove | undefined;
  /** When it happened, in epoch milliseconds: the verdict, or the move. Only a later move corrects the case. */
  readonly at: number;
  /** The bookings that it names. */
  readonly references?: readonly string[] | undefined;
}

export interface OpenCasesParts {
  readonly ledger: Pick<History, 'trace'> & { readonly cases: CaseStore };
  /** All stays ahead at these hotels: see `readStaysAhead`. */
  readonly readStays: (hotels: readonly ProviderHotel[]) => AsyncIterable<readonly FoundStay[]>;
  /** YYYY-MM-DD, in the account's zone. */
  readonly today: string;
  readonly clock: () => number;
  readonly notify?: NotifyCases | undefined;
}

export interface FoundStay extends CaseKey, CaseStay {}

export interface OpenedCases {
  /** Those that were opened, or reopened on new evidence. */
  readonly opened: readonly Case[];
  /** Those that were there and got another origin or more bookings. */
  readonly extended: readonly Case[];
}

const casesAtOnce = 500;

/**
 * Opens a case for each finding, or adds its origin to the one that exists. Each case gets every booking on its provider
 * hotel, booked as that master hotel, whose stay is ahead. A finding without such a booking opens no case. Doing it again
 * changes nothing.
 */
export async function openCases(
  findings: readonly Finding[],
  { ledger, readStays, today, clock, notify }: OpenCasesParts,
): Promise<OpenedCases> {
  const groups = [...groupByCase(findings).values()];
  const opened: Case[] = [];
  const extended: Case[] = [];
  for (let from = 0; from < groups.length; from += casesAtOnce) {
    const chunk = groups.slice(from, from + casesAtOnce);
    const stays = await findStays(chunk, { ledger, readStays, today });
    const now = clock();
    const outcomes = new Map<string, Outcome>();
    const changed = await ledger.cases.changeByKey(chunk, (held, group) => {
      const key = keyOfCase(group);
      const outcome = decideOpening(held, group, stays.get(key) ?? [], now);
      outcomes.set(key, outcome);
      return outcome.decision;
    });
    for (const item of changed) (outcomes.get(keyOfCase(item))?.isOpened ? opened : extended).push(item);
    const newOnes = [...outcomes.values()].filter(({ isOpened }) => isOpened);
    if (newOnes.length > 0)
      notify?.({
        type: 'case-opened',
        cases: newOnes.length,
        bookings: newOnes.reduce((sum, { bookings }) => sum + bookings, 0),
      });
  }
  return { opened, extended };
}

/** All findings about one case. */
interface CaseFindings extends CaseKey {
  readonly findings: readonly Finding[];
}

interface Outcome {
  readonly decision: CaseDecision | undefined;
  readonly isOpened: boolean;
  readonly bookings: number;
}

function decideOpening(
  held: HeldCase | undefined,
  { findings }: CaseFindings,
  stays: readonly CaseStay[],
  now: number,
): Outcome {
  let next: HeldCase | CaseContent | undefined = held;
  for (const { origin, move, at, references = [] } of findings)
    next = applyEvidence(next, { origin, move, at, references: new Set(references), stays }, now);
  if (!next) return { decision: undefined, isOpened: false, bookings: 0 };
  const isOpened = isActiveCase(next) && !(held && isActiveCase(held));
  const bookings = next.bookings.length - (held?.bookings.length ?? 0);
  const act: Act = {
    who: automatic,
    at: now,
    action: isOpened ? (held ? 'case-reopened' : 'case-opened') : 'case-extended',
    details: { origins: [...new Set(findings.map(({ origin }) => origin))].join(' '), bookings },
  };
  return { decision: toDecision(held, next, [act]), isOpened, bookings };
}

function groupByCase(findings: readonly Finding[]): ReadonlyMap<string, CaseFindings> {
  const groups = new Map<string, CaseKey & { readonly findings: Finding[] }>();
  for (const finding of findings) {
    const key = keyOfCase(finding);
    const group = groups.get(key);
    if (group) group.findings.push(finding);
    else {
      const { providerName, providerHotelId, serviceId } = finding;
      groups.set(key, { providerName, providerHotelId, serviceId, findings: [finding] });
    }
  }
  return groups;
}

/** The stays ahead of each case, by its key. */
async function findStays(
  groups: readonly CaseFindings[],
  { ledger, readStays, today }: Pick<OpenCasesParts, 'ledger' | 'readStays' | 'today'>,
): Promise<ReadonlyMap<string, readonly CaseStay[]>> {
  const found = new Map<string, CaseStay[]>(groups.map((group) => [keyOfCase(group), []]));
  const hotels = new Map(groups.map((group) => [`${group.providerName}\0${group.providerHotelId}`, group]));
  for await (const stays of readStays([...hotels.values()]))
    for (const stay of stays) found.get(keyOfCase(stay))?.push(stay);
  for (const group of groups) {
    const stays = found.get(keyOfCase(group)) ?? [];
    const known = new Set(stays.map(({ reference }) => reference));
    for (const reference of new Set(group.findings.flatMap(({ references = [] }) => references))) {
      if (known.has(reference)) continue;
      stays.push(...findNamed(await ledger.trace(reference), group, today));
    }
  }
  return found;
}

/**
 * A booking that was named, but is not among the stays: either it has another hotel by now, or it was stored by a version
 * that did not index stays.
 */
function findNamed(traces: readonly Trace[], key: CaseKey, today: string): CaseStay[] {
  const bookings = traces.filter((trace) => trace.kind === 'booking');
  const day = bookings.reduce((latest, { run }) => (run.day > latest ? run.day : latest), '');
  const newest = bookings.find(({ run }) => run.day === day)?.run.id;
  return bookings
    .filter(({ run }) => run.id === newest)
    .map(({ line, form }) => readBooking(line, form))
    .filter(
      ({ providerName, providerHotelId, serviceId, checkInDate }) =>
        providerName === key.providerName &&
        providerHotelId === key.providerHotelId &&
        serviceId === key.serviceId &&
        isAhead(checkInDate, today),
    )
    .map(({ bookingReferenceId, checkInDate, checkOutDate }) => ({
      day,
      ...(bookingReferenceId !== undefined && { reference: bookingReferenceId }),
      ...(checkInDate !== undefined && { checkIn: checkInDate }),
      ...(checkOutDate !== undefined && { checkOut: checkOutDate }),
    }));
}
