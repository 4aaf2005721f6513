import { keyOfHotel, type MasterHotel, type MovedMapping } from '../ledger/mappings.js';
import type { CopyStanding } from '../mappings/copied-hotels.js';
import { readStaysAhead, type StaysOfHotels } from '../review/stays/stays-ahead.js';
import { type Case, type CaseKey, type CaseMove, type HeldCase, keyOfCase } from '../rules/case.js';
import { applyCommand, applyMoves, automatic, escalateIfDue, toDecision } from '../rules/case-transitions.js';
import { type CaseParts, changeCases } from './case-bookings.js';
import type { CaseEvent, WatchCounts, WatchEvent } from './events.js';
import { openCases } from './open-cases.js';

export interface FollowParts extends CaseParts {
  /** How long a reported case may stay uncorrected. */
  readonly escalateAfterMs: number;
}

/**
 * Corrects the cases whose mapping moved after the evidence, and escalates those that were reported too long ago. Call it
 * after each sync, and before and after new findings: a verdict reopens what was corrected before it.
 */
export async function followMappings({ ledger, escalateAfterMs, clock, notify }: FollowParts): Promise<void> {
  const { cases } = ledger;
  const moves = new Map((await cases.listMoved()).map(({ id, moves }) => [id, moves]));
  async function follow(
    ids: readonly number[],
    action: 'case-corrected' | 'case-escalated',
    apply: (held: HeldCase, now: number) => HeldCase,
  ): Promise<void> {
    const changed = await changeCases(ledger, ids, (held) => {
      const now = clock();
      return toDecision(held, apply(held, now), [{ who: automatic, at: now, action }]);
    });
    if (changed > 0) notify?.({ type: action, cases: changed });
  }
  await follow([...moves.keys()], 'case-corrected', (held, now) =>
    applyMoves(held, moves.get(held.id) ?? [], now),
  );
  const reported = await cases.listReported(clock() - escalateAfterMs);
  await follow(reported, 'case-escalated', (held, now) => escalateIfDue(held, escalateAfterMs, now));
}

/** A single provider may just have corrected its own hotels; if two agree, the master hotels are one. */
const minProviders = 2;

/**
 * What happened to a booked mapping, judged by the copy alone; undefined if the copy still has the booked master hotel.
 *
 * - `unmapped`: its mapping was deleted
 * - `merged`: more than half of the booked master hotel's provider hotels, of at least two providers, moved to the same
 *   other one: two ids of one hotel have become one
 * - `re-pointed`: it moved alone, so the guest may arrive at another hotel
 *
 * @param booked what the copy knows about the booked master hotel
 */
export function classifyMove(
  { serviceId, copyServiceId }: { readonly serviceId: number; readonly copyServiceId?: number | undefined },
  booked: MasterHotel | undefined,
): CaseMove | undefined {
  if (copyServiceId === undefined) return 'unmapped';
  if (copyServiceId === serviceId) return undefined;
  const { hotels = 0, left = [] } = booked ?? {};
  const moved = left.filter((hotel) => hotel.copyServiceId === copyServiceId);
  const providers = new Set(moved.map(({ providerName }) => providerName));
  return providers.size >= minProviders && 2 * moved.length > hotels + left.length ? 'merged' : 're-pointed';
}

interface WatchParts extends CaseParts {
  readonly notify: (event: WatchEvent | CaseEvent) => void;
}

export type WatchReport = Awaited<ReturnType<typeof watchMappings>>;

/** Moves that are compared at once: finding the stays reads all runs, however few the hotels. */
const movesAtOnce = 10_000;

/**
 * Compares every mapping that moved, was deleted or came back since the last watch with the current and upcoming stays, and opens cases for
 * those in danger. The moves count as compared only once their cases are open: an interrupted watch looks again, and opening
 * a case again changes nothing.
 *
 * @throws the signal's reason when aborted
 */
export async function watchMappings(parts: WatchParts, signal: AbortSignal) {
  const { ledger, notify, today } = parts;
  const findings: Awaited<ReturnType<typeof openMovedCases>> = [];
  let checkedMoves = 0;
  let dismissed = 0;
  for (;;) {
    signal.throwIfAborted();
    const moved = await ledger.watch.nextMoves(movesAtOnce);
    if (!moved) break;
    dismissed += await dismissMerged(parts);
    const onRun = (runs: number, of: number) => notify({ type: 'searching-stays', runs, of });
    const found: Awaited<ReturnType<typeof findMoved>> = [];
    for await (const slice of readStaysAhead(ledger, moved.mappings, { today, onRun, signal }))
      found.push(...(await findMoved(parts, slice)));
    findings.push(...(await openMovedCases(parts, found)));
    await ledger.watch.finishMoves(moved.upTo);
    checkedMoves += moved.moves;
    notify({ type: 'moves-checked', checkedMoves, findings: findings.length });
  }
  const endangered = findings.filter(({ move }) => move !== 'merged');
  const counts: WatchCounts = {
    checkedMoves,
    endangered: endangered.length,
    unmapped: endangered.filter(({ move }) => move === 'unmapped').length,
    bookings: endangered.reduce((sum, { bookings }) => sum + bookings, 0),
    merged: findings.length - endangered.length,
    dismissed,
  };
  notify({ type: 'mappings-watched', ...counts });
  return { counts, findings };
}

/** The mappings with current and upcoming stays that are no longer as booked, by booked master hotel. */
async function findMoved({ ledger }: WatchParts, { hotels, stays }: StaysOfHotels<MovedMapping>) {
  const moved = new Map(hotels.map((mapping) => [keyOfHotel(mapping), mapping]));
  const changed = new Map<string, CaseKey & { bookings: number }>();
  for (const stay of stays) {
    const { providerName, providerHotelId, serviceId } = stay;
    if (moved.get(keyOfHotel(stay))?.copyServiceId === serviceId) continue;
    const known = changed.get(keyOfCase(stay));
    if (known) known.bookings += 1;
    else changed.set(keyOfCase(stay), { providerName, providerHotelId, serviceId, bookings: 1 });
  }
  const booked = [...new Set([...changed.values()].map(({ serviceId }) => serviceId))];
  const masters = await ledger.watch.readMasterHotels(booked);
  return [...changed.values()].flatMap((found) => {
    const { copyServiceId, movedAt = 0 } = moved.get(keyOfHotel(found)) ?? {};
    const move = classifyMove({ serviceId: found.serviceId, copyServiceId }, masters.get(found.serviceId));
    const copy: CopyStanding = copyServiceId === undefined ? 'unmapped' : 'mapped';
    return move ? [{ ...found, copyServiceId: copyServiceId ?? null, copy, move, movedAt }] : [];
  });
}

/** Opens the cases of mappings that moved; a merge opens none. */
async function openMovedCases(parts: WatchParts, found: Awaited<ReturnType<typeof findMoved>>) {
  const endangered = found.filter(({ move }) => move !== 'merged');
  await openCases(
    endangered.map((one) => ({ ...one, origin: 'watch', at: one.movedAt })),
    parts,
  );
  const cases = await parts.ledger.cases.findByKeys(found);
  return found.map(({ movedAt: _, ...finding }, index) => {
    const caseId = finding.move === 'merged' ? null : (cases[index]?.id ?? null);
    return { ...finding, caseId };
  });
}

/**
 * Dismisses the cases of re-pointed mappings once the other mappings of their master hotel have followed: the move was the
 * first of a merge. Cases that anything but the watch found, too, stay. Returns how many were dismissed.
 */
async function dismissMerged({ ledger, clock }: WatchParts): Promise<number> {
  const merged = new Map<number, number>();
  const rePointed = (await ledger.cases.listActive()).filter(isOnlyRePointed);
  const masters = await ledger.watch.readMasterHotels(rePointed.map(({ serviceId }) => serviceId));
  const copied = await ledger.mappings.lookUp(rePointed);
  for (const [index, { id, serviceId }] of rePointed.entries()) {
    const copyServiceId = copied[index]?.serviceId;
    if (copyServiceId === undefined) continue;
    const move = classifyMove({ serviceId, copyServiceId }, masters.get(serviceId));
    if (move === 'merged') merged.set(id, copyServiceId);
  }
  return changeCases(ledger, [...merged.keys()], (held) =>
    isOnlyRePointed(held) ? dismiss(held, merged.get(held.id) ?? 0, clock()) : undefined,
  );
}

function isOnlyRePointed({ origins, move }: Case): boolean {
  return move === 're-pointed' && origins.every((origin) => origin === 'watch');
}

function dismiss(held: HeldCase, into: number, now: number) {
  const dismissed = applyCommand(held, 'dismiss', now);
  const note = `master hotel ${held.serviceId} was merged into ${into}: its other mappings followed`;
  const act = { who: automatic, at: now, action: 'case-dismissed' as const, details: { mergedInto: into } };
  return dismissed && toDecision(held, { ...dismissed, move: 'merged', note }, [act]);
}
