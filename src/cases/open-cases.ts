import { forEachGivingWay, giveWay } from '../async/give-way.js';
import type { Ledger } from '../ledger/ledger.js';

import { readStaysAhead } from '../review/stays/stays-ahead.js';

import { type Case, type CaseKey, type CaseOrigin, type HeldCase, isActiveCase, keyOfCase } from './case.js';
import type { CaseContent, CaseStay } from './case-bookings.js';
import { type Act, automatic, toDecision } from './case-decision.js';
import type { NotifyCases } from './case-events.js';
import type { CaseDecision } from './case-store.js';
import { applyEvidence, type Evidence } from './case-transitions.js';
import { casesPerTransaction } from './change-cases.js';
import type { CaseFindings, MergedFinding } from './findings.js';

export interface OpenCasesParts {
  readonly ledger: Ledger;
  /** YYYY-MM-DD, in the account's zone. */
  readonly today: string;
  readonly clock: () => number;
  readonly notify?: NotifyCases | undefined;
  /** The stays of each case that are not over, by its key, if they have just been read. */
  readonly stays?: StaysByCase | undefined;
  /** Aborting it throws the signal's reason before the next write. */
  readonly signal?: AbortSignal | undefined;
}

export type StaysByCase = ReadonlyMap<string, readonly CaseStay[]>;

export interface OpenedCases {
  /** Those that were opened, or reopened on new evidence. */
  readonly opened: readonly Case[];
  /** The ones among them that are new: they have every booking in its latest version. */
  readonly added: readonly Case[];
  /** Existing cases that got another origin or more bookings. */
  readonly extended: readonly Case[];
}

/** The most cases, and bookings named by their findings, whose stays are read at once. Each read scans every run. */
const casesPerReading = 1_000;
const bookingsPerReading = 10_000;
/** The most bookings that a transaction adds. */
const staysPerTransaction = 500;

/**
 * Opens the cases of these findings, or adds their origins to existing ones. Each case gets every booking on its provider
 * hotel, booked as that master hotel, whose stay is not over. A finding without such a booking opens no case. Idempotent.
 */
export async function openCases(
  findings: readonly CaseFindings[],
  { ledger, today, clock, notify, stays: known, signal }: OpenCasesParts,
): Promise<OpenedCases> {
  const opened: Case[] = [];
  const added: Case[] = [];
  const extended: Case[] = [];
  let bookings = 0;
  try {
    for (const groups of splitForReading(findings)) {
      const stays = known ?? (await findStays(groups, { ledger, today, signal }));
      for (const keys of splitForTransactions(groups, stays)) {
        await giveWay();
        const copied = await ledger.mappings.lookUp(keys);
        const inCopy = new Set(
          keys.filter(({ serviceId }, index) => copied[index]?.serviceId === serviceId).map(keyOfCase),
        );
        const now = clock();
        const outcomes = new Map<string, Outcome>();
        const changed = await ledger.cases.changeByKey(keys, (held, group) => {
          const key = keyOfCase(group);
          const found = { stays: stays.get(key) ?? [], isBookedInCopy: inCopy.has(key) };
          const outcome = decideOpening(held, group, found, now);
          outcomes.set(key, outcome);
          return outcome.decision;
        });
        for (const item of changed) {
          const outcome = outcomes.get(keyOfCase(item));
          (outcome?.isOpened ? opened : extended).push(item);
          if (outcome?.isOpened) bookings += outcome.bookings;
          if (outcome?.isNew) added.push(item);
        }
      }
    }
  } finally {
    // Reported even if the rest failed, because these cases are not opened again.
    if (opened.length > 0) notify?.({ type: 'case-opened', cases: opened.length, bookings });
  }
  return { opened, added, extended };
}

/** Most stays of a case are bookings that its findings name, so this bounds the bookings held in memory. */
function splitForReading(groups: readonly CaseFindings[]): CaseFindings[][] {
  const countNamed = ({ findings }: CaseFindings) =>
    new Set(findings.flatMap(({ references }) => [...references])).size;
  return split(groups, { cases: casesPerReading, bookings: bookingsPerReading }, countNamed);
}

/** Splits cases into groups that are written together. */
function splitForTransactions(groups: readonly CaseFindings[], stays: StaysByCase): CaseFindings[][] {
  const countStays = (group: CaseFindings) => stays.get(keyOfCase(group))?.length ?? 0;
  return split(groups, { cases: casesPerTransaction, bookings: staysPerTransaction }, countStays);
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

interface Outcome {
  readonly decision: CaseDecision | undefined;
  readonly isOpened: boolean;
  readonly isNew: boolean;
  readonly bookings: number;
}

function decideOpening(
  held: HeldCase | undefined,
  { findings }: CaseFindings,
  found: Pick<Evidence, 'stays' | 'isBookedInCopy'>,
  now: number,
): Outcome {
  let next: HeldCase | CaseContent | undefined = held;
  let left = held && isActiveCase(held) ? joinFindings(findings) : findings;
  let { stays } = found;
  for (let finding = left[0]; finding; finding = left[0]) {
    next = applyEvidence(next, { ...finding, ...found, stays }, now);
    left = left.slice(1);
    if (!next || !isActiveCase(next)) continue;
    // The case has all stays now: further findings can only name some of them.
    left = joinFindings(left);
    const named = new Set(left.flatMap(({ references }) => [...references]));
    stays = found.stays.filter(({ reference }) => reference !== undefined && named.has(reference));
  }
  if (!next) return { decision: undefined, isOpened: false, isNew: false, bookings: 0 };
  const isOpened = isActiveCase(next) && !(held && isActiveCase(held));
  const bookings = next.bookings.length - (held?.bookings.length ?? 0);
  const act: Act = {
    who: automatic,
    at: now,
    action: isOpened ? (held ? 'case-reopened' : 'case-opened') : 'case-updated',
    details: { origins: [...new Set(findings.map(({ origin }) => origin))].join(' '), bookings },
  };
  return { decision: toDecision(held, next, [act]), isOpened, isNew: held === undefined, bookings };
}

/** For an active case the time of a finding makes no difference, and its findings may come from hundreds of runs. */
function joinFindings(findings: readonly MergedFinding[]): readonly MergedFinding[] {
  const joined = new Map<CaseOrigin | MergedFinding, MergedFinding>();
  for (const finding of findings) {
    // Moves stay apart, because each follows from the one before.
    const key = finding.move === undefined ? finding.origin : finding;
    const known = joined.get(key);
    if (known) for (const reference of finding.references) known.references.add(reference);
    else joined.set(key, { ...finding, references: new Set(finding.references) });
  }
  return [...joined.values()];
}

/** The stays of each case that are not over, by its key. */
async function findStays(
  groups: readonly CaseKey[],
  { ledger, today, signal }: Pick<OpenCasesParts, 'ledger' | 'today' | 'signal'>,
): Promise<StaysByCase> {
  const found = new Map<string, CaseStay[]>(groups.map((group) => [keyOfCase(group), []]));
  // At the same hotels, there may be a hundred times as many stays on other mappings.
  const isWanted = (stay: CaseKey) => found.has(keyOfCase(stay));
  for await (const stays of readStaysAhead(ledger, groups, { today, isWanted, signal }))
    await forEachGivingWay(stays, signal, (stay) => found.get(keyOfCase(stay))?.push(stay));
  return found;
}
